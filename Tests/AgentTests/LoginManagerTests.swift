import Foundation
import TestSupport
import Testing
import WatchwordSystem

/// The agent's behaviour when the session is locked, and before the machine sleeps.
///
/// The bus and the login manager belong to the test.
@Suite(
    .serialized,
    .enabled(if: PrivateBus.isPossible, PrivateBus.requirement))
struct LoginManagerTests {
    /// An agent with a separate system bus.
    private final class Machine {
        let agent: AgentFixture
        let manager: LoginManagerMock

        init(_ entries: [String] = ["Site:me --secret-file key.txt"]) throws {
            agent = try AgentFixture(entries)
            manager = LoginManagerMock(in: agent.folder)
        }

        func startBus() throws { try manager.start(sessions: [geteuid(), 12345]) }

        @discardableResult
        func shell(_ command: String, status: Int32 = 0) throws -> ForeignProgram.Outcome {
            try agent.shell(
                "export DBUS_SYSTEM_BUS_ADDRESS='\(manager.address)'; \(command)", status: status)
        }

        /// Unlocks the vault, and waits until the agent delays sleep, which shows that it listens.
        func unlock(with program: String = "watchword") throws {
            try shell("\(program) \(AgentFixture.unlock)")
            try manager.wait(untilDelayed: true)
        }

        func waitForLock() throws {
            try shell(PrivateBus.waiting("watchword agent status | grep -q 'no vault'"))
        }
    }

    @Test("the agent locks its vaults when its user's session is locked, not a different user's")
    func lock() throws {
        let machine = try Machine()
        try machine.startBus()
        try machine.unlock()
        try machine.manager.lockSession(2)
        // Announcements arrive in order: when the second has been handled, so has the first.
        try machine.manager.announceSleep(false)
        try machine.manager.wait(untilDelayed: true)
        #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
        try machine.manager.lockSession(1)
        try machine.waitForLock()
        // The agent still runs, and can be used again.
        try machine.shell("watchword \(AgentFixture.unlock)")
        #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("signals that another program sends in the login manager's name have no effect")
    func forged() throws {
        let machine = try Machine()
        try machine.startBus()
        try machine.unlock()
        try machine.manager.forgeSignals(times: 500)
        // The agent still delays sleep, and handles what arrives after the forged signals.
        try machine.manager.announceSleep(false)
        try machine.manager.wait(untilDelayed: true)
        #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
        try machine.manager.lockSession(1)
        try machine.waitForLock()
    }

    @Test("many locked sessions lock the vault, and do not crash the agent")
    func flood() throws {
        let machine = try Machine()
        try machine.startBus()
        try machine.unlock()
        let keyHolder = try machine.agent.keyHolder()
        try machine.shell("kill -STOP \(keyHolder)")
        try machine.manager.lockSession(1, times: 500)
        try machine.manager.announceSleep(true)
        try machine.shell("kill -CONT \(keyHolder)")
        // The agent handles signals in their order.
        try machine.manager.wait(untilDelayed: false)
        #expect(
            try machine.agent.run("agent status").text
                == "The agent is running; no vault is unlocked.\n")
    }

    @Test(
        "the agent delays sleep until it has locked the vaults, and again after the machine wakes")
    func sleep() throws {
        let machine = try Machine()
        try machine.startBus()
        try machine.unlock()
        try machine.manager.announceSleep(true)
        try machine.manager.wait(untilDelayed: false)
        #expect(
            try machine.agent.run("agent status").text
                == "The agent is running; no vault is unlocked.\n")
        try machine.manager.announceSleep(false)
        try machine.manager.wait(untilDelayed: true)
    }

    @Test(
        "the machine sleeps when no key is left, even if a presence check is waiting",
        .enabled(if: geteuid() == 0, "needs root"))
    func sleepDuringCheck() throws {
        let machine = try Machine(["A:a --presence per-use:pam --secret-file key.txt"])
        let key = try machine.agent.vaultKey()
        try machine.agent.installModules()
        try machine.agent.configure("required pam_unix.so")
        try machine.startBus()
        try machine.unlock(with: "bin/watchword")
        let terminal = try machine.agent.terminal("code A", program: "bin/watchword")
        try terminal.waitFor("assword: ")
        let holder = try machine.agent.keyHolder()
        #expect(try ProcessMemory.holds(key, in: holder))
        try machine.manager.announceSleep(true)
        try machine.manager.wait(untilDelayed: false)
        #expect(try !ProcessMemory.holds(key, in: holder))
        try terminal.type("any\n")
        #expect(try terminal.end() == 4)
    }

    @Test(
        "the system agent locks the vault of the user whose session is locked, and all before sleep",
        .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
    func system() throws {
        var started: LoginManagerMock?
        let agent = try SystemAgentFixture { folder in
            let manager = LoginManagerMock(in: folder)
            try manager.start(
                sessions: [SystemAgentFixture.User.games, .man].map { UInt32($0.id) })
            started = manager
            return manager.address
        }
        let manager = try #require(started)
        func unlocked() throws -> [String] {
            try [SystemAgentFixture.User.games, .man].flatMap { user in
                try agent.run("agent status", as: user).text.contains("no vault")
                    ? [] : [user.rawValue]
            }
        }
        func wait(untilLockedFor user: SystemAgentFixture.User) throws {
            try agent.shell(
                PrivateBus.waiting("watchword agent status | grep -q 'no vault'"), as: user)
        }
        for user in [SystemAgentFixture.User.games, .man] {
            try agent.keep(of: user)
            try agent.run("unlock --passphrase-file pass.txt", as: user)
        }
        try manager.wait(untilDelayed: true)
        #expect(try unlocked() == ["games", "man"])
        try manager.lockSession(2)
        try wait(untilLockedFor: .man)
        #expect(try unlocked() == ["games"])
        #expect(try agent.run("code Site --at 59").text == "287082\n")
        try agent.run("unlock --passphrase-file pass.txt", as: .man)
        try manager.announceSleep(true)
        try manager.wait(untilDelayed: false)
        #expect(try unlocked() == [])
    }

    @Test(
        "a user who locks and ends sessions at once locks no other user's vault",
        .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
    func strangers() throws {
        var started: LoginManagerMock?
        let agent = try SystemAgentFixture { folder in
            let manager = LoginManagerMock(in: folder)
            let users = [SystemAgentFixture.User.man.id] + Array(repeating: 12345, count: 12)
            try manager.start(sessions: users.map { UInt32($0) })
            started = manager
            return manager.address
        }
        let manager = try #require(started)
        for user in [SystemAgentFixture.User.games, .man] {
            try agent.keep(of: user)
            try agent.run("unlock --passphrase-file pass.txt", as: user)
        }
        try manager.wait(untilDelayed: true)
        // All announcements arrive before the agent looks up a user.
        kill(agent.supervisor, SIGSTOP)
        try manager.lockSession(2, times: 20)
        for session in 2...13 { try manager.lockSession(session) }
        for session in 2...5 { try manager.endSession(session) }
        try manager.lockSession(1)
        kill(agent.supervisor, SIGCONT)
        // The sessions are handled in their order.
        try agent.shell(
            PrivateBus.waiting("watchword agent status | grep -q 'no vault'"), as: .man)
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("a bus that is missing or silent, or that ends, does not harm the agent")
    func badBuses() throws {
        let machine = try Machine()
        try machine.shell("watchword \(AgentFixture.unlock)")
        #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
        try machine.agent.run("agent stop")
        // A bus that accepts connections and never answers.
        let silent = try LocalSocket.listen(at: machine.agent.folder.file("bus"))
        try machine.shell("watchword \(AgentFixture.unlock)")
        for _ in 0..<3 {
            #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
        }
        try machine.agent.run("agent stop")
        withExtendedLifetime(silent) {}
        try machine.agent.shell("rm bus")
        // A bus that answers with invalid data.
        let noisy = try LocalSocket.listen(at: machine.agent.folder.file("bus"))
        try machine.shell("watchword \(AgentFixture.unlock)")
        _ = try Polling.ready(of: [.reading(noisy)], timeout: .seconds(60))
        let connection = try LocalSocket.accept(from: noisy)
        try connection.writeAll([UInt8](repeating: 0xff, count: 10_000).span)
        for _ in 0..<3 {
            #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
        }
        try machine.agent.run("agent stop")
        try machine.agent.shell("rm bus")
        // A bus that ends while the agent uses it.
        try machine.startBus()
        try machine.unlock()
        try machine.manager.end()
        for _ in 0..<3 {
            #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
        }
    }
}
