import Foundation
import TestSupport
import Testing

/// Entries that ask the system at each use, with real modules that a service file of the test names.
struct PAMPresenceTests {
    /// A vault, and beside it a `watchword` whose system asks the modules of `lines`.
    private func fixture(
        _ lines: [String], onFailure: String = "lock-out", presence: String = "per-use"
    ) throws -> VaultFixture {
        let fixture = try VaultFixture(
            ["A:a", "B:b"].map {
                "\($0) --presence \(presence) --on-failure \(onFailure) --secret-file key.txt"
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

    @Test(
        "O-16 no option and no variable opens an entry that demands the system's check",
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
        #expect(errors(refused).contains("“A:a” stays closed; it waits after 4 more failures"))
        let chosen = try fixture.run(
            "./watchword \(verb) --passphrase-file pass.txt --presence-check passphrase", status: 4)
        #expect(errors(chosen).contains("“A:a” is per-use:pam: it accepts no other check"))
        for outcome in [refused, chosen] { #expect(outcome.output == []) }
        #expect(try fixture.vault() == vault)
    }

    @Test("O-16 an entry that demands the passphrase does not take the system's yes for it")
    func demandsPassphrase() throws {
        let fixture = try fixture(Self.permit, presence: "per-use:passphrase")
        let refused = try fixture.run(Self.code, status: 4)
        #expect(errors(refused).contains("“A:a” is per-use:passphrase: it accepts no other check"))
        let told = try fixture.run(Self.code + " --json", status: 4).text
        #expect(
            told
                == #"{"check":"passphrase","entry":"A:a","reason":"other-check","result":"denied"}"#
                + "\n")
        let plain = "./watchword code A --at 59 --passphrase-file pass.txt"
        #expect(try fixture.run(plain).text == "287082\n")
    }

    @Test("an entry that demands the system's check opens by its yes, and says what is missing")
    func demandsAndGets() throws {
        let fixture = try fixture(Self.permit, presence: "PER-USE:PAM")
        let plain = "./watchword code A --at 59 --passphrase-file pass.txt"
        #expect(try fixture.run(plain).text == "287082\n")
        let list = try fixture.run("watchword list --passphrase-file pass.txt").text
        #expect(list == "A:a  totp, per-use:pam\nB:b  totp, per-use:pam\n")
        try fixture.run("rm pam.d/watchword")
        #expect(
            try errors(fixture.run(plain, status: 4)).contains(
                "there is no /etc/pam.d/watchword; the entry accepts no other check"))
    }

    @Test("O-16 import asks once for each entry that asks at each use before it replaces its key")
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
                == "address.txt, line 1: replaced: A:a\naddress.txt, line 2: replaced: B:b\n")
        let list = try fixture.run("watchword list --passphrase-file pass.txt").text
        #expect(list == "A:a  totp, per-use:pam\nB:b  totp, per-use:pam\n")
        // A failure of one of them changes neither.
        let vault = try fixture.vault()
        let deny = Self.deny.map { $0 + "\n" }.joined()
        try fixture.folder.write(Array(deny.utf8), to: "pam.d/watchword")
        try fixture.run(replace + " --passphrase-file pass.txt", status: 4)
        #expect(try fixture.vault() == vault)
        let rehearsed = try fixture.run(replace + " --dry-run --passphrase-file pass.txt")
        #expect(rehearsed.text.contains("would be replaced: A:a"))
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
        #expect(try fixture.countsFailures())
        try terminal.type(typed)
        #expect(try terminal.end() != 0)
        #expect(try terminal.settings().echoes)
        #expect(try !fixture.countsFailures())
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
