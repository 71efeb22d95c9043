import Foundation
import TestSupport
import Testing

/// Entries that ask the system at each use, with real modules that a service file of the test names.
struct PAMPresenceTests {
    /// A vault, and beside it a `watchword` whose system asks the modules of `lines`.
    private func fixture(_ lines: [String], onFailure: String = "lock-out") throws -> VaultFixture {
        let fixture = try VaultFixture(
            ["A:a", "B:b"].map {
                "\($0) --presence per-use --on-failure \(onFailure) --secret-file key.txt"
            })
        // The program that asks is looked for beside the one that runs, wherever links lead.
        try fixture.run(
            """
            cp "$(command -v watchword)" "$(command -v watchword-reader)" .
            ln -s "$(dirname "$(command -v watchword)")/StackedPresence" watchword-presence
            mkdir pam.d
            """)
        if !lines.isEmpty {
            let text = lines.map { $0 + "\n" }.joined()
            try fixture.folder.write(Array(text.utf8), to: "pam.d/watchword")
        }
        return fixture
    }

    private static let permit = ["auth required pam_permit.so", "account required pam_permit.so"]
    private static let deny = ["auth required pam_deny.so", "account required pam_permit.so"]
    private static let code =
        "./watchword code A --at 59 --presence-check pam --passphrase-file pass.txt"

    private func errors(_ outcome: ForeignProgram.Outcome) -> String {
        String(decoding: outcome.errors, as: UTF8.self)
    }

    @Test("the system's yes opens the entry, beside the passphrase and never instead of it")
    func yes() throws {
        let fixture = try fixture(Self.permit)
        #expect(try fixture.run(Self.code).text == "287082\n")
        let export = "./watchword export --presence-check pam --passphrase-file pass.txt"
        #expect(try fixture.run(export).text.components(separatedBy: "otpauth://").count == 3)
        try fixture.folder.write(Array("guess".utf8), to: "pass.txt")
        try fixture.run(Self.code, status: 4)
    }

    @Test("the system's no is counted against the entry, told, and in the end makes it wait")
    func no() throws {
        let fixture = try fixture(Self.deny)
        for left in [4, 3, 2, 1] {
            let refused = try fixture.run(Self.code, status: 4)
            #expect(refused.output == [])
            let words = left == 1 ? "1 more failure" : "\(left) more failures"
            #expect(errors(refused).contains("“A:a” stays closed; it waits after \(words)"))
        }
        let fifth = try fixture.run(Self.code + " --json", status: 4)
        #expect(fifth.text.hasPrefix(#"{"entry":"A:a","reason":"refused","result":"denied","#))
        // It waits whatever is asked, and whatever the answer would be.
        let permit = Self.permit.map { $0 + "\n" }.joined()
        try fixture.folder.write(Array(permit.utf8), to: "pam.d/watchword")
        #expect(try errors(fixture.run(Self.code, status: 4)).contains("had too many failures"))
        try fixture.run("watchword code A --passphrase-file pass.txt", status: 4)
        try fixture.run("./watchword code B --presence-check pam --passphrase-file pass.txt")
    }

    @Test("the system's no wipes an entry that says so")
    func wipes() throws {
        let fixture = try fixture(Self.deny, onFailure: "wipe:1")
        #expect(try errors(fixture.run(Self.code, status: 4)).contains("“A:a” is wiped"))
        let list = try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(list.text.contains("A:a  wiped\n"))
        #expect(list.text.contains("B:b  totp, per-use, wipe:1\n"))
        #expect(errors(list).contains("A:a was wiped on 20"))
    }

    @Test(
        "who breaks off at the system's question has tried nothing",
        arguments: ["\u{3}", "half\u{1C}"])
    func brokenOff(_ typed: String) throws {
        let asking = ["auth required pam_unix.so nodelay", "account required pam_permit.so"]
        let fixture = try fixture(asking, onFailure: "wipe:1")
        let terminal = try fixture.terminal("exec " + Self.code)
        try terminal.waitFor("Password: ")
        let counted = ".local/share/watchword/vault.attempts"
        #expect(FileManager.default.fileExists(atPath: fixture.folder.file(counted)))
        try terminal.type(typed)
        #expect(try terminal.end() != 0)
        #expect(try terminal.settings().echoes)
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.file(counted)))
        let list = try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(list.text.contains("A:a  totp, per-use, wipe:1\n"))
    }

    @Test("no answer is no failure: without modules, or without the program that asks them")
    func noAnswer() throws {
        let fixture = try fixture([], onFailure: "wipe:1")
        #expect(
            try errors(fixture.run(Self.code, status: 4)).contains(
                "there is no /etc/pam.d/watchword; --presence-check passphrase asks"))
        try fixture.run("rm watchword-presence")
        #expect(
            try errors(fixture.run(Self.code, status: 4)).contains(
                "watchword-presence, which asks the system, is not beside watchword"))
        let list = try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(list.text.contains("A:a  totp, per-use, wipe:1\n"))
        let other =
            "./watchword code A --at 59 --presence-check passphrase --passphrase-file pass.txt"
        #expect(try fixture.run(other).text == "287082\n")
    }
}
