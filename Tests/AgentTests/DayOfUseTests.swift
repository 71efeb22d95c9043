import Foundation
import TestSupport
import Testing

/// A day of use with the agent and the real programs, on terminals and without them.
@Suite(.serialized)
struct DayOfUseTests {
    private let agent: AgentFixture
    private static let suspended = ".local/share/watchword/suspended"

    /// A session of a user with three entries; the agent runs on a machine that the test can
    /// suspend.
    init() throws {
        agent = try AgentFixture([
            "GitHub:ann --secret-file key.txt", "Mail:ann --secret-file key.txt",
            "Bank:ann --presence per-use:pam --secret-file key.txt",
        ])
        try agent.installModules()
        try agent.configure("required pam_permit.so")
        try agent.installPinEntry(["D \(AgentFixture.passphrase)\\nOK"])
        try agent.shell(
            "cp \"$(dirname \"$(command -v watchword)\")/suspending-agent\" bin/watchword-agent")
    }

    /// Runs `watchword` on a terminal without a prompt, and returns its output.
    private func show(_ arguments: String) throws -> String {
        let terminal = try agent.terminal(arguments, program: "bin/watchword")
        #expect(try terminal.end() == 0, "\(arguments)")
        return terminal.screen
    }

    @Test("a day of use: unlock, codes, clipboard, PAM, pick, suspend, pinentry, lock, log out")
    func day() throws {
        // The user logs in, and unlocks once.
        let unlocking = try agent.terminal("unlock", program: "bin/watchword")
        try unlocking.waitFor("Passphrase: ")
        try unlocking.type(AgentFixture.passphrase + "\n")
        #expect(try unlocking.end() == 0)
        #expect(unlocking.screen.contains("Unlocked the vault. It locks after 15 minutes"))
        // The user shows ten codes, and copies two to the clipboard.
        for number in 0..<10 {
            let name = number % 2 == 0 ? "github" : "mail"
            #expect(try show("code \(name) --at 59") == "287082\r\n")
        }
        for name in ["GitHub", "Mail"] {
            let copied = try show("code \(name) --at 59 --copy=osc52")
            #expect(copied.hasPrefix("\u{1B}]52;c;Mjg3MDgy\u{7}"))
            #expect(copied.contains("Copied the code of \(name):ann"))
        }
        // One entry requires a PAM check each time.
        #expect(try show("code Bank --at 59") == "287082\r\n")
        try agent.configure("required pam_deny.so")
        let refused = try agent.shell("bin/watchword code Bank", status: 4)
        #expect(AgentFixture.errors(refused).contains("“Bank:ann” was not opened"))
        try agent.configure("required pam_permit.so")
        #expect(try show("code Bank --at 59") == "287082\r\n")
        // The user picks an entry from the list.
        let pick = try agent.terminal("pick >code.txt", program: "bin/watchword")
        try pick.waitFor("(3 of 3)")
        try pick.type("mai")
        try pick.waitFor("(1 of 3)")
        try pick.type("\u{10}")
        #expect(try pick.end() == 0)
        #expect(try agent.shell("grep -c '^[0-9]\\{6\\}$' code.txt").text == "1\n")
        // The machine sleeps; afterwards the vault is locked.
        try agent.shell(": >\(DayOfUseTests.suspended)")
        let locked = try agent.shell("bin/watchword code GitHub", status: 4)
        #expect(locked.output.isEmpty)
        #expect(AgentFixture.errors(locked).contains("no terminal to prompt on"))
        let status = try agent.run("agent status")
        #expect(status.text == "The agent is running; no vault is unlocked.\n")
        // Without a terminal, a window asks for the passphrase.
        let opened = try agent.shell("\(AgentFixture.desktop) bin/watchword unlock")
        #expect(AgentFixture.errors(opened).contains("Unlocked the vault."))
        #expect(try agent.shell("grep -c GETPIN log").text == "1\n")
        #expect(try show("code github --at 59") == "287082\r\n")
        // The user locks the vault, and logs out.
        #expect(try show("lock") == "Locked the vault.\r\n")
        try agent.shell("bin/watchword code GitHub", status: 4)
        let holder = try agent.keyHolder()
        try agent.shell(
            "rm -r run; while kill -0 \(holder) 2>/dev/null; do :; done; mkdir -m 700 run")
    }
}
