import Foundation
import SecretVault
import TestSupport
import Testing

/// `unlock` without a terminal, which prompts in a window.
///
/// The program `pinentry` belongs to the test.
struct PinEntryTests {
    /// An agent fixture with a `pinentry`.
    private func fixture(_ answers: [String], greeting: String = "OK hello") throws -> AgentFixture
    {
        let agent = try AgentFixture()
        try agent.installPinEntry(answers, greeting: greeting)
        return agent
    }

    private static let command = "\(AgentFixture.desktop) watchword unlock"

    private func unlock(_ agent: AgentFixture, status: Int32 = 0) throws -> String {
        AgentFixture.errors(try agent.shell(Self.command, status: status))
    }

    private func commands(_ agent: AgentFixture) throws -> [String] {
        String(decoding: try agent.folder.bytes(of: "log"), as: UTF8.self)
            .components(separatedBy: "\n").dropLast()
    }

    @Test("the passphrase may arrive percent-encoded and in parts")
    func answer() throws {
        let agent = try fixture(["D correct%2Dhors\\nD e-bat%74ery\\nOK"])
        #expect(try unlock(agent).contains("Unlocked the vault."))
        #expect(try agent.run("code Site --at 59").text == "287082\n")
        let path = agent.folder.file(AgentFixture.vault)
        #expect(
            try commands(agent) == [
                "SETTITLE Watchword", "SETTIMEOUT 120", "SETDESC Unlock the vault \(path)",
                "SETPROMPT Passphrase:", "GETPIN",
            ])
    }

    @Test("the window permits three attempts, and shows why the last one failed")
    func attempts() throws {
        let agent = try fixture(["D one\\nOK", "D two\\nOK", "D correct-horse-battery\\nOK"])
        _ = try unlock(agent)
        let wrong = try commands(agent).filter { $0.hasPrefix("SETERROR") }
        #expect(wrong.count == 2)
        #expect(wrong.allSatisfy { $0.contains("wrong passphrase") })

        let other = try fixture(Array(repeating: "D wrong\\nOK", count: 4))
        #expect(try unlock(other, status: 4).contains("wrong passphrase"))
        let commands = try commands(other)
        #expect(commands.count { $0 == "GETPIN" } == 3)
        #expect(commands.last == "MESSAGE")
    }

    @Test("the window shows a lock-out, and does not prompt")
    func lockOut() throws {
        let agent = try fixture(["D correct-horse-battery\\nOK"])
        try agent.folder.write(Array("wrong\n".utf8), to: "wrong.txt")
        for _ in 1...LockOutPolicy.firstFailureWithWait {
            try agent.shell("watchword list --no-agent --passphrase-file wrong.txt", status: 4)
        }
        #expect(try unlock(agent, status: 4).contains("too many failures"))
        let commands = try commands(agent)
        #expect(!commands.contains("GETPIN"))
        #expect(commands.suffix(2).first?.contains("too many failures") == true)
        #expect(commands.last == "MESSAGE")
    }

    @Test(
        "a window without an answer leaves the vault locked",
        arguments: [
            ("ERR 83886179 Operation cancelled <Pinentry>", 4, "cancelled; nothing was changed"),
            ("OK", 4, "cancelled; nothing was changed"),
            ("ERR 83886142 Timeout <Pinentry>", 4, "no passphrase was entered in time"),
            ("ERR 83918950 Inappropriate ioctl <Pinentry>", 6, "error 32870 of libgpg-error"),
            ("HELLO", 6, "sent an invalid response"),
            ("INQUIRE QUALITY", 6, "sent an invalid response"),
        ] as [(String, Int32, String)])
    func failures(answer: String, status: Int32, sentence: String) throws {
        let agent = try fixture([answer])
        #expect(try unlock(agent, status: status).contains(sentence))
        #expect(try agent.run("agent status").text.contains("no vault is unlocked"))
    }

    @Test("a pinentry that is missing, or ends at once, is reported")
    func missing() throws {
        let agent = try fixture([], greeting: "BYE")
        #expect(try unlock(agent, status: 6).contains("invalid response"))
        try agent.folder.addProgram("#!/bin/false\n", as: "fake/pinentry")
        #expect(try unlock(agent, status: 6).contains("pinentry ended"))
        let none = try agent.shell(
            "program=$(command -v watchword); PATH=/nowhere DISPLAY=:9 \"$program\" unlock",
            status: 6)
        #expect(AgentFixture.errors(none).contains("install one of pinentry-gtk2"))
    }

    @Test("on a terminal, and without a display, no window is shown")
    func noWindow() throws {
        let agent = try fixture(["D correct-horse-battery\\nOK"])
        _ = try agent.shell("PATH=$PWD/fake:$PATH watchword unlock", status: 4)
        let terminal = try agent.terminal(
            "unlock", program: "env PATH=\"$PWD/fake:$PATH\" DISPLAY=:9 watchword")
        try terminal.waitFor("Passphrase: ")
        try terminal.type(AgentFixture.passphrase + "\n")
        #expect(try terminal.end() == 0)
        #expect(try commands(agent).isEmpty)
    }
}
