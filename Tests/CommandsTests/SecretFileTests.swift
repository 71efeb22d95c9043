import Foundation
import TestSupport
import Testing
import WatchwordSystem

/// Secret files that a user asks the program to write, and the files that they must not replace.
struct SecretFileTests {
    @Test("a warning appears if a secret is printed to a file that other users can read")
    func redirected() throws {
        let fixture = try VaultFixture([
            "Site:me --secret-file key.txt", "note --type secret --secret-file key.txt",
        ])
        let unlocked = "--passphrase-file pass.txt"
        try fixture.folder.write(
            Array("otpauth://totp/x?secret=\(VaultFixture.key)".utf8), to: "uri.txt")
        try fixture.run("watchword qr write --text-file uri.txt --png shot.png")
        let words = "other users can read the file that standard output is written to (mode 0644)"
        func errors(_ command: String) throws -> String {
            // An export leaves out the static secret.
            let status: Int32 = command.contains("export") ? 1 : 0
            return String(decoding: try fixture.run(command, status: status).errors, as: UTF8.self)
        }
        for command in [
            "init --vault $(umask) --scrypt-log-n 10 \(unlocked)",
            "slot add recovery-key \(unlocked)", "show Site --uri \(unlocked)",
            "--json show Site --uri \(unlocked)", "show Site --qr \(unlocked)",
            "show note --reveal \(unlocked)", "export \(unlocked)",
            "--json export --yes \(unlocked)", "qr read shot.png",
            "qr write --text-file uri.txt", "qr write --text-file uri.txt --png -",
        ] {
            for (mask, isExposed) in [("022", true), ("077", false)] {
                let said = try errors("rm -f out; umask \(mask); watchword \(command) >out")
                #expect(said.contains(words) == isExposed, "\(mask) \(command): \(said)")
            }
        }
        #expect(!(try errors("watchword show Site --uri \(unlocked) | cat >out").contains(words)))
        #expect(!(try errors("umask 022; watchword code Site \(unlocked) >new").contains(words)))
    }

    @Test("O-10 --force replaces an image, but neither a vault nor any of Watchword's own files")
    func spared() throws {
        let fixture = try VaultFixture()
        let place = ".local/share/watchword"
        // A second change leaves a previous generation.
        try fixture.run("watchword add -q Other --secret-file key.txt --passphrase-file pass.txt")
        try fixture.folder.write(Array("otpauth://totp/x?secret=MFRGG".utf8), to: "uri.txt")
        let write = "watchword qr write --text-file uri.txt --force --png"
        try fixture.run("\(write) picture.png")
        try fixture.run("\(write) picture.png")
        let root = fixture.folder.file(place)
        let all = try #require(FileManager.default.enumerator(atPath: root))
        let files = try all.compactMap { $0 as? String }.filter {
            try FileKind(at: root + "/" + $0, following: false) == .file
        }
        let names = Set(files.map { $0.split(separator: "/").last ?? "" })
        #expect(names.isSuperset(of: ["vault", "previous", "generation", "attempts", "lock"]))
        for file in files {
            let before = try fixture.folder.bytes(of: "\(place)/\(file)")
            let outcome = try fixture.run("\(write) \(place)/\(file)", status: 3)
            let says = file == "vault" ? "does not overwrite" : "reserved for Watchword's own files"
            #expect(String(decoding: outcome.errors, as: UTF8.self).contains(says), "\(file)")
            #expect(try fixture.folder.bytes(of: "\(place)/\(file)") == before, "\(file)")
        }
        // A new file at this path would prevent the next change.
        try fixture.run("\(write) \(place)/.watchword/by-name/vault/new", status: 3)
        try fixture.run("watchword add -q Third --secret-file key.txt --passphrase-file pass.txt")
    }
}
