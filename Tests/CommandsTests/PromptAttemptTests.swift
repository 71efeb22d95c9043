import Foundation
import SecretVault
import TestSupport
import Testing
import WatchwordSystem

@testable import Commands

/// How often a prompt is repeated; and input at a prompt never reaches the shell.
@Suite(.serialized)
struct PromptAttemptTests {
    @Test("the correct passphrase is accepted at the third prompt")
    func third() throws {
        let terminal = try VaultFixture().terminal("watchword list")
        try terminal.answer([("Passphrase: ", "one"), ("Passphrase: ", "two")])
        try terminal.answer([("Passphrase: ", VaultFixture.passphrase)])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("Site:me"))
    }

    @Test("a third wrong answer to the prompt for one entry ends the command")
    func entry() throws {
        let fixture = try VaultFixture(
            ["A:a", "B:b"].map { "\($0) --presence per-use --secret-file key.txt" })
        let terminal = try fixture.terminal("watchword export --yes")
        try terminal.answer([("Passphrase: ", VaultFixture.passphrase)])
        let failures = LockOutPolicy.firstFailureWithWait
        for left in [failures - 1, failures - 2] {
            try terminal.answer([("To export B:b (2 of 2), enter the passphrase again: ", "guess")])
            try terminal.waitFor("locked out of it after \(left) more failures")
        }
        try terminal.answer([("the passphrase again: ", "guess")])
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("locked out of it after \(failures - 3) more failures"))
        #expect(!terminal.screen.contains("otpauth://"))
    }

    @Test("a passphrase in a file is tried once")
    func file() throws {
        let fixture = try VaultFixture()
        try fixture.folder.write(Array("wrong\n".utf8), to: "wrong.txt")
        let terminal = try fixture.terminal("watchword list --passphrase-file wrong.txt")
        #expect(try terminal.end() == 4)
        let left = LockOutPolicy.firstFailureWithWait - 1
        #expect(terminal.screen.contains("locked out after \(left) more failures"))
    }

    @Test(
        "a passphrase typed during a lock-out does not reach the shell",
        arguments: ["list", "code me"])
    func lockOut(_ verb: String) throws {
        let fixture = try VaultFixture()
        try fixture.folder.write(Array("wrong\n".utf8), to: "wrong.txt")
        for _ in 1...LockOutPolicy.firstFailureWithWait {
            try fixture.run("watchword list --passphrase-file wrong.txt", status: 4)
        }
        let terminal = try fixture.terminal(
            "watchword \(verb); echo ended $?; read -r line; echo \"<$line>\"")
        try terminal.waitFor("press Return to end the command: ")
        #expect(terminal.screen.contains("Locked for "))
        #expect(try terminal.settings().echoes == false)
        try terminal.type(VaultFixture.passphrase + "\n")
        try terminal.waitFor("ended 4")
        #expect(try terminal.settings().echoes)
        try terminal.type("x\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("<x>"))
        #expect(!terminal.screen.contains(VaultFixture.passphrase))
        #expect(terminal.screen.contains("too many failures; try again in "))
    }

    @Test("without a terminal, a lock-out ends the command at once")
    func withoutTerminal() throws {
        let fixture = try VaultFixture()
        try fixture.folder.write(Array("wrong\n".utf8), to: "wrong.txt")
        for _ in 1...LockOutPolicy.firstFailureWithWait {
            try fixture.run("watchword list --passphrase-file wrong.txt", status: 4)
        }
        let outcome = try fixture.run("watchword list", status: 4)
        #expect(String(decoding: outcome.errors, as: UTF8.self).hasPrefix("watchword: "))
    }

    @Test("a marker for the clock warning counts as new only once")
    func clockWarning() throws {
        let folder = try TemporaryFolder()
        let open = try Folder(opening: folder.path)
        let answers = ["marker", "marker", "other"].map {
            ClockWarningMarker.isNew($0, in: open)
        }
        #expect(answers == [true, false, true])
    }
}
