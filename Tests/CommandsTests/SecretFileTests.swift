import Foundation
import POSIX
import TestSupport
import Testing

/// Secret files that a user asks the program to write, and the files that they must not replace.
struct SecretFileTests {
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
        // A new file there would prevent the next change.
        try fixture.run("\(write) \(place)/.watchword/by-name/vault/new", status: 3)
        try fixture.run("watchword add -q Third --secret-file key.txt --passphrase-file pass.txt")
    }
}
