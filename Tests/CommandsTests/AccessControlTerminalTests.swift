import Foundation
import SecretVault
import TestSupport
import Testing

/// How guesses, cancellations and kills at a prompt are counted.
@Suite(.serialized)
struct AccessControlTerminalTests {
    /// Three entries that require a check at each use.
    private func asking(_ onFailure: String = "lock-out") throws -> VaultFixture {
        try VaultFixture(
            ["A:a", "B:b", "C:c"].map {
                "\($0) --presence per-use --on-failure \(onFailure) --secret-file key.txt"
            })
    }

    @Test(
        "each guess is counted, up to three per command; then a message states the wait")
    func guesses() throws {
        let fixture = try VaultFixture(recoveryKey: true)
        let first = try fixture.terminal("watchword list")
        let failures = LockOutPolicy.firstFailureWithWait
        for left in [failures - 1, failures - 2] {
            try first.answer([("Passphrase: ", "guess")])
            try first.waitFor("locked out after \(left) more failures")
        }
        try first.answer([("Passphrase: ", "guess")])
        #expect(try first.end() == 4)
        #expect(first.screen.contains("locked out after \(failures - 3) more failures"))
        #expect(!first.screen.contains("guess"))
        let second = try fixture.terminal("watchword list")
        for left in (1..<failures - 3).reversed() {
            try second.answer([("Passphrase: ", "guess")])
            try second.waitFor("locked out after \(left) more failure")
        }
        try second.answer([("Passphrase: ", "guess"), ("press Return", "")])
        #expect(try second.end() == 4)
        let counted = /wrong passphrase; try again in (1 minute|\d+ seconds?)/
        #expect(second.screen.firstMatch(of: counted) != nil)
        let waiting = try fixture.terminal("watchword list")
        try waiting.answer([("press Return", "")])
        #expect(try waiting.end() == 4)
        #expect(!waiting.screen.contains("Passphrase: "))
        let said =
            /try again in (1 minute|\d+ seconds?), or use --recovery-key now/
        #expect(waiting.screen.firstMatch(of: said) != nil)
        // The recovery key unlocks the vault during the wait; a new passphrase ends the wait.
        let recovering = try fixture.terminal(
            "watchword passphrase --recovery-key --scrypt-log-n 10")
        try recovering.answer([
            ("as you wrote it down: ", fixture.line(of: "recovery.txt")),
            ("New passphrase: ", "new"), ("New passphrase again: ", "new"),
        ])
        #expect(try recovering.end() == 0)
        let listing = try fixture.terminal("watchword list")
        try listing.answer([("Passphrase: ", "new")])
        #expect(try listing.end() == 0)
        #expect(listing.screen.contains("Site:me"))
    }

    @Test(
        "cancelling the passphrase prompt does not count as an attempt",
        arguments: ["\n", "\u{4}", "\u{3}", "half\u{3}"])
    func leaving(_ answer: String) throws {
        let fixture = try VaultFixture(["S:s --on-failure wipe:1 --secret-file key.txt"])
        let terminal = try fixture.terminal("watchword list")
        try terminal.waitFor("Passphrase: ")
        try terminal.type(answer)
        #expect(try terminal.end() != 0)
        #expect(try !fixture.countsFailures())
        #expect(try fixture.run("watchword list --passphrase-file pass.txt").errors == [])
    }

    @Test(
        "O-12 an import that replaces a wiped entry adds a new one with the same access control")
    func replacedAfterWiping() throws {
        let fixture = try VaultFixture(["S:s --on-failure wipe:1 --secret-file key.txt"])
        let record = try #require(try fixture.vault().firstMatch(of: /\nrecord (\S+) \d+ (.+)\n/))
        try fixture.folder.write(Array("wrong\n".utf8), to: "wrong.txt")
        try fixture.run("watchword list --passphrase-file wrong.txt", status: 4)
        #expect(try fixture.vault().contains("\ntombstone \(record.1) "))
        let uri = "otpauth://totp/S:s?secret=MFRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK&issuer=S\n"
        try fixture.folder.write(Array(uri.utf8), to: "s.txt")
        try fixture.run(
            "watchword import -q s.txt --on-duplicate replace --passphrase-file pass.txt")
        let saved = try fixture.vault()
        #expect(!saved.contains(record.1))
        #expect(saved.contains(" \(record.2)\nmac "))
        try fixture.run("watchword code S:s --passphrase-file pass.txt")
    }

    @Test("export asks for a check of each per-use entry by name before it prints anything")
    func export() throws {
        let fixture = try asking()
        let terminal = try fixture.terminal("watchword export --yes")
        try terminal.waitFor("Passphrase: ")
        try terminal.type(VaultFixture.passphrase + "\n")
        try terminal.waitFor("To export B:b (2 of 3), enter the passphrase again: ")
        #expect(try terminal.settings().echoes == false)
        #expect(!terminal.screen.contains("otpauth://"))
        try terminal.type(VaultFixture.passphrase + "\n")
        try terminal.waitFor("To export C:c (3 of 3), enter the passphrase again: ")
        #expect(!terminal.screen.contains("otpauth://"))
        try terminal.type(VaultFixture.passphrase + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.components(separatedBy: "otpauth://").count == 4)
        #expect(!terminal.screen.contains(VaultFixture.passphrase))
        #expect(try !fixture.countsFailures())
    }

    @Test("an import asks for a check of each further per-use entry that it replaces")
    func replaced() throws {
        let fixture = try asking()
        let lines = ["A", "B"].map { name in
            "otpauth://totp/\(name):\(name.lowercased())?issuer=\(name)"
                + "&secret=\(name)FRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK\n"
        }
        try fixture.folder.write(Array(lines.joined().utf8), to: "new.txt")
        let terminal = try fixture.terminal("watchword import new.txt --on-duplicate replace")
        try terminal.answer([
            ("Passphrase: ", VaultFixture.passphrase),
            ("To replace B:b (2 of 2), enter the passphrase again: ", VaultFixture.passphrase),
        ])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("2 replaced"))
    }

    @Test("watch asks for a check of each requested per-use entry, then shows them all")
    func watch() throws {
        let fixture = try asking()
        let terminal = try fixture.terminal("exec watchword watch a b")
        try terminal.answer([
            ("Passphrase: ", VaultFixture.passphrase),
            ("To watch B:b (2 of 2), enter the passphrase again: ", VaultFixture.passphrase),
        ])
        try terminal.waitFor("q to quit")
        #expect(terminal.screen.contains("A:a") && terminal.screen.contains("B:b"))
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }

    @Test(
        "cancelling the prompt for an entry does not count as an attempt, and exports nothing",
        arguments: ["\n", "\u{4}", "\u{3}"])
    func leavingEntry(_ answer: String) throws {
        let fixture = try asking("wipe:1")
        let terminal = try fixture.terminal("watchword export --yes")
        try terminal.answer([("Passphrase: ", VaultFixture.passphrase)])
        try terminal.waitFor("the passphrase again: ")
        try terminal.type(answer)
        #expect(try terminal.end() != 0)
        #expect(!terminal.screen.contains("otpauth://"))
        #expect(try terminal.settings().echoes)
        #expect(try !fixture.countsFailures())
        #expect(try fixture.run("watchword list --passphrase-file pass.txt").errors == [])
    }

    @Test("a kill at a prompt does not count as an attempt; a wrong answer counts immediately")
    func killed() throws {
        let fixture = try asking()
        for (verb, questions) in [("list", 0), ("export --yes", 1)] {
            let terminal = try fixture.terminal("echo $$; exec watchword \(verb)")
            try terminal.waitFor("Passphrase: ")
            let number = try #require(terminal.screen.firstMatch(of: /\d+/)?.output)
            for _ in 0..<questions {
                terminal.clear()
                try terminal.type(VaultFixture.passphrase + "\n")
                try terminal.waitFor("the passphrase again: ")
            }
            try terminal.type("half a guess")
            let shell = try #require(ForeignProgram("sh"))
            #expect(try shell.run(["-c", "kill -9 \(number)"]).status == 0)
            _ = try terminal.end()
            #expect(try !fixture.countsFailures())
        }
        // An attempt is saved before its result is printed, so it counts even if the program
        // is then killed.
        let terminal = try fixture.terminal("watchword export --yes")
        try terminal.answer([
            ("Passphrase: ", VaultFixture.passphrase), ("the passphrase again: ", "guess"),
        ])
        // The next prompt discards earlier input.
        try terminal.waitFor(
            "you will be locked out of it after \(LockOutPolicy.firstFailureWithWait - 1) more failures\r\n"
                + "To export B:b (2 of 3), enter the passphrase again: ")
        #expect(try fixture.countsFailures())
        try terminal.type("\u{4}")
        #expect(try terminal.end() == 4)
    }

    @Test(
        "a wipe is reported at once, and at the next unlock with the time and the reason")
    func wiped() throws {
        let fixture = try asking("wipe:2")
        let terminal = try fixture.terminal("watchword export --yes")
        try terminal.answer([
            ("Passphrase: ", VaultFixture.passphrase), ("the passphrase again: ", "guess"),
        ])
        try terminal.waitFor("“B:b” was not opened; it will be wiped after 1 more failure")
        try terminal.answer([("the passphrase again: ", "guess")])
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("“B:b” was wiped"))
        let listing = try fixture.terminal("watchword list")
        try listing.answer([("Passphrase: ", VaultFixture.passphrase)])
        #expect(try listing.end() == 0)
        let told = /B:b was wiped on 20\d\d-\d\d-\d\dT\S+Z after too many failures/
        #expect(listing.screen.firstMatch(of: told) != nil)
        #expect(!listing.screen.contains("A:a was wiped"))
    }

    @Test("the first command after a wipe reports it, and later only list and check do")
    func reportedOnce() throws {
        let fixture = try VaultFixture([
            "A:a --on-failure wipe:1 --secret-file key.txt", "B:b --secret-file key.txt",
        ])
        try fixture.folder.write(Array("guess\n".utf8), to: "guess.txt")
        try fixture.run("watchword list --passphrase-file guess.txt", status: 4)
        func reports(_ command: String) throws -> Bool {
            let outcome = try fixture.run("watchword \(command) --passphrase-file pass.txt")
            return String(decoding: outcome.errors, as: UTF8.self).contains("A:a was wiped on 20")
        }
        #expect(try reports("code B --at 59"))
        for command in ["code B --at 59", "show B", "edit B --note new", "verify 287082 B --at 59"]
        {
            #expect(try !reports(command), "\(command)")
        }
        for command in ["list", "check"] { #expect(try reports(command), "\(command)") }
    }
}
