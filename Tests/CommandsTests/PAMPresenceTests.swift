import Foundation
import SecretVault
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

/// Entries that require a check by PAM, with real modules in a test service file.
struct PAMPresenceTests {
    /// A vault, and a copy of `watchword` whose PAM service file has `lines`.
    private func fixture(
        _ lines: [String], onFailure: String = "lock-out", presence: String = "per-use"
    ) throws -> VaultFixture {
        let fixture = try VaultFixture(
            ["A:a", "B:b"].map {
                "\($0) --presence \(presence) --on-failure \(onFailure) --secret-file key.txt"
            })
        // Copy the program: the helper is looked up beside the real file, after links are resolved.
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

    @Test("a successful PAM check opens the entry, but does not replace the passphrase")
    func yes() throws {
        let fixture = try fixture(Self.permit)
        #expect(try fixture.run(Self.code).text == "287082\n")
        let export = "./watchword export --presence-check pam --passphrase-file pass.txt"
        #expect(try fixture.run(export).text.components(separatedBy: "otpauth://").count == 3)
        try fixture.folder.write(Array("guess".utf8), to: "pass.txt")
        try fixture.run(Self.code, status: 4)
    }

    @Test("failed PAM checks are reported and counted against the entry, and finally lock it")
    func no() throws {
        let fixture = try fixture(Self.deny)
        for left in (1..<LockOutPolicy.firstFailureWithWait).reversed() {
            let refused = try fixture.run(Self.code, status: 4)
            #expect(refused.output == [])
            let words = left == 1 ? "1 more failure" : "\(left) more failures"
            #expect(
                errors(refused).contains(
                    "“A:a” was not opened; you will be locked out of it after \(words)"))
        }
        let last = try fixture.run(Self.code + " --json", status: 4)
        #expect(
            last.text.hasPrefix(#"{"entry":"A:a","message":"“A:a” was not opened; try again in "#))
        #expect(last.text.contains(#""reason":"refused","result":"denied","retry_after":"#))
        // The entry is locked for every check, even if the check would succeed.
        let permit = Self.permit.map { $0 + "\n" }.joined()
        try fixture.folder.write(Array(permit.utf8), to: "pam.d/watchword")
        #expect(
            try errors(fixture.run(Self.code, status: 4)).contains(
                "you are locked out of “A:a” after too many failures"))
        try fixture.run("watchword code A --passphrase-file pass.txt", status: 4)
        try fixture.run("./watchword code B --presence-check pam --passphrase-file pass.txt")
    }

    @Test(
        "O-16 no option or variable bypasses the check of an entry that requires PAM",
        arguments: [
            "code A --at 59", "show A --uri",
            "verify 287082 A --at 59", "watch A", "export", "edit A --presence per-unlock",
            "edit A --secret-file key.txt", "import address.txt --on-duplicate replace",
        ])
    func demandsPAM(_ verb: String) throws {
        let fixture = try fixture(Self.deny, presence: "per-use:pam")
        let address = "otpauth://totp/A:a?secret=MFRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK&issuer=A\n"
        try fixture.folder.write(Array(address.utf8), to: "address.txt")
        let vault = try fixture.vault()
        let variables = "WATCHWORD_PRESENCE_CHECK=passphrase WATCHWORD_PRESENCE=per-unlock"
        let refused = try fixture.run(
            "\(variables) ./watchword \(verb) --passphrase-file pass.txt", status: 4)
        let left = LockOutPolicy.firstFailureWithWait - 1
        #expect(
            errors(refused).contains(
                "“A:a” was not opened; you will be locked out of it after \(left) more failures"))
        let chosen = try fixture.run(
            "./watchword \(verb) --passphrase-file pass.txt --presence-check passphrase", status: 4)
        #expect(errors(chosen).contains("“A:a” is per-use:pam and accepts no other check"))
        for outcome in [refused, chosen] { #expect(outcome.output == []) }
        #expect(try fixture.vault() == vault)
    }

    @Test(
        "every command that may use PAM accepts --presence-check, which the advice mentions",
        arguments: [
            "code", "pick", "watch", "show", "edit", "rename", "remove", "undo", "merge", "export",
            "import", "verify", "login enrol", "login present", "login status", "key enrol",
            "key present", "key confirm", "key status",
        ])
    func advice(_ name: String) throws {
        let verb = try #require(Verb.allCases.first { $0.name == name })
        #expect(verb.entry.options.contains(.presenceCheck))
    }

    @Test("O-16 an entry that requires the passphrase does not accept PAM instead")
    func demandsPassphrase() throws {
        let fixture = try fixture(Self.permit, presence: "per-use:passphrase")
        let refused = try fixture.run(Self.code, status: 4)
        #expect(errors(refused).contains("“A:a” is per-use:passphrase and accepts no other check"))
        let told = try fixture.run(Self.code + " --json", status: 4).text
        #expect(told.hasPrefix(#"{"check":"passphrase","entry":"A:a","message":"“A:a” is per-use"#))
        #expect(told.hasSuffix(#","reason":"other-check","result":"denied","status":4}"# + "\n"))
        let plain = "./watchword code A --at 59 --passphrase-file pass.txt"
        #expect(try fixture.run(plain).text == "287082\n")
    }

    @Test("an entry that requires PAM opens after a PAM check; a missing service file is reported")
    func demandsAndGets() throws {
        let fixture = try fixture(Self.permit, presence: "PER-USE:PAM")
        let plain = "./watchword code A --at 59 --passphrase-file pass.txt"
        #expect(try fixture.run(plain).text == "287082\n")
        let list = try fixture.run("watchword list --passphrase-file pass.txt").text
        #expect(list == "A:a  totp, per-use:pam\nB:b  totp, per-use:pam\n")
        try fixture.run("rm pam.d/watchword")
        #expect(
            try errors(fixture.run(plain, status: 4)).contains(
                "there is no /etc/pam.d/watchword); the entry accepts no other check"))
    }

    @Test(
        "O-16 an import replaces the keys of per-use entries only after a check")
    func replacing() throws {
        let fixture = try fixture(Self.permit, presence: "per-use:pam")
        let lines = [("A", "M"), ("B", "N")].map { name, letter in
            "otpauth://totp/\(name):\(name.lowercased())?issuer=\(name)"
                + "&secret=\(letter)FRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK\n"
        }
        try fixture.folder.write(Array(lines.joined().utf8), to: "address.txt")
        let replace = "./watchword import address.txt --on-duplicate replace"
        let outcome = try fixture.run(replace + " --passphrase-file pass.txt")
        #expect(
            outcome.text
                == "address.txt, line 1: replaced: A:a\naddress.txt, line 2: replaced: B:b\n"
                + "address.txt: 2 replaced\n")
        let list = try fixture.run("watchword list --passphrase-file pass.txt").text
        #expect(list == "A:a  totp, per-use:pam\nB:b  totp, per-use:pam\n")
        // If one check fails, neither entry changes.
        let vault = try fixture.vault()
        let deny = Self.deny.map { $0 + "\n" }.joined()
        try fixture.folder.write(Array(deny.utf8), to: "pam.d/watchword")
        try fixture.run(replace + " --passphrase-file pass.txt", status: 4)
        #expect(try fixture.vault() == vault)
        let rehearsed = try fixture.run(replace + " --dry-run --passphrase-file pass.txt")
        #expect(rehearsed.text.contains("\nreplace  A       a "))
    }

    @Test("a failed PAM check wipes an entry with wipe:1")
    func wipes() throws {
        let fixture = try fixture(Self.deny, onFailure: "wipe:1")
        #expect(try errors(fixture.run(Self.code, status: 4)).contains("“A:a” was wiped"))
        let list = try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(list.text.contains("A:a  wiped\n"))
        #expect(list.text.contains("B:b  totp, per-use, wipe:1\n"))
        #expect(errors(list).contains("A:a was wiped on 20"))
    }

    @Test(
        "interrupting the PAM prompt does not count as an attempt",
        arguments: ["\u{3}", "half\u{1C}"])
    func brokenOff(_ typed: String) throws {
        let asking = ["auth required pam_unix.so nodelay", "account required pam_permit.so"]
        let fixture = try fixture(asking, onFailure: "wipe:1")
        let terminal = try fixture.terminal("exec " + Self.code)
        try terminal.waitFor("Password: ")
        #expect(try fixture.countsFailures())
        try terminal.type(typed)
        #expect(try terminal.end() != 0)
        #expect(try terminal.settings().echoes)
        #expect(try !fixture.countsFailures())
        let list = try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(list.text.contains("A:a  totp, per-use, wipe:1\n"))
    }

    @Test("a missing service file or helper does not count as a failure")
    func noResponse() throws {
        let fixture = try fixture([], onFailure: "wipe:1")
        #expect(
            try errors(fixture.run(Self.code, status: 4)).contains(
                "there is no /etc/pam.d/watchword); use --presence-check passphrase"))
        try fixture.run("rm watchword-presence")
        #expect(
            try errors(fixture.run(Self.code, status: 4)).contains(
                "watchword-presence is not installed beside watchword"))
        let list = try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(list.text.contains("A:a  totp, per-use, wipe:1\n"))
        let other =
            "./watchword code A --at 59 --presence-check passphrase --passphrase-file pass.txt"
        #expect(try fixture.run(other).text == "287082\n")
    }
}
