import Foundation
import POSIX
import TestSupport
import Testing

/// What the tests of the login manager need.
private enum LoginManagerMock {
    static let canRun: Bool = {
        guard ForeignProgram("dbus-daemon") != nil, ForeignProgram("busctl") != nil else {
            return false
        }
        do {
            return try ForeignProgram(path: "/usr/bin/python3").run(["-c", "import dbusmock"])
                .status == 0
        } catch {
            return false
        }
    }()
}

/// What the agent does when the session is locked, and before the machine sleeps.
///
/// The bus and the login manager belong to the test.
@Suite(
    .serialized,
    .enabled(if: LoginManagerMock.canRun, "dbus-daemon, busctl or python3-dbusmock is missing"))
struct LoginManagerTests {
    private static let manager = "org.freedesktop.login1 /org/freedesktop/login1"
    private static let mock = "org.freedesktop.DBus.Mock"

    /// An agent and its own system bus.
    private final class Machine {
        let agent: AgentFixture
        private let address: String
        private var processes: [String] = []

        init() throws {
            agent = try AgentFixture()
            address = "unix:path=\(agent.folder.file("bus"))"
        }

        deinit {
            for process in processes {
                do { try agent.shell("kill \(process) 2>/dev/null || true") } catch {}
            }
        }

        /// Starts a program of the bus in the background.
        private func start(_ command: String) throws {
            // Foundation waits until no process has the files that the shell inherited.
            let starter =
                "import subprocess, sys; n = subprocess.DEVNULL; "
                + "print(subprocess.Popen(sys.argv[1:], stdin=n, stdout=n, stderr=n).pid)"
            let process = try shell("/usr/bin/python3 -c '\(starter)' \(command)").text
            processes.append(process.filter(\.isNumber))
        }

        /// Starts the bus, and the login manager with a session of this user and one of another.
        func startBus() throws {
            let configuration = """
                <busconfig><type>system</type><listen>\(address)</listen>
                <policy context="default"><allow send_destination="*" eavesdrop="true"/>
                <allow receive_sender="*" eavesdrop="true"/><allow own="*"/><allow user="*"/>
                </policy></busconfig>
                """
            try agent.folder.write(Array(configuration.utf8), to: "bus.conf")
            try start("dbus-daemon --config-file=bus.conf --nofork")
            try wait("[ -S bus ]")
            try start("/usr/bin/python3 -m dbusmock --system --template logind")
            try wait("busctl --address='\(address)' status org.freedesktop.login1 >/dev/null 2>&1")
            for (session, user) in [("1", geteuid()), ("2", 12345)] {
                try call("\(mock) AddSession ssusb \(session) seat0 \(user) someone true")
            }
        }

        /// Ends the bus and the login manager.
        func endBus() throws {
            try agent.shell("kill \(processes.joined(separator: " ")); rm -f bus")
            processes = []
        }

        func wait(_ condition: String) throws {
            try shell("timeout 60 sh -c \"until \(condition); do sleep 0.05; done\"")
        }

        @discardableResult
        func shell(_ command: String, status: Int32 = 0) throws -> ForeignProgram.Outcome {
            try agent.shell(
                "export DBUS_SYSTEM_BUS_ADDRESS='\(address)'; \(command)", status: status)
        }

        @discardableResult
        func call(_ method: String, on object: String = manager) throws -> String {
            try shell("busctl --address='\(address)' call \(object) \(method)").text
        }

        func announceSleep(_ starts: Bool) throws {
            try call(
                "\(mock) EmitSignal sssav org.freedesktop.login1.Manager PrepareForSleep b 1 b "
                    + "\(starts)")
        }

        /// Unlocks the vault, and waits until the agent delays sleep: then it listens.
        func unlock() throws {
            try shell("watchword \(AgentFixture.unlock)")
            try waitForInhibitor()
        }

        private var inhibitors: String {
            "busctl --address='\(address)' call \(manager) "
                + "org.freedesktop.login1.Manager ListInhibitors"
        }

        func waitForInhibitor() throws { try wait("\(inhibitors) | grep -q delay") }

        func waitForNoInhibitor() throws { try wait("! \(inhibitors) | grep -q delay") }

        func waitForLock() throws { try wait("watchword agent status | grep -q 'no vault'") }
    }

    @Test("the agent locks when a session of its user is locked, and not for another user's")
    func lock() throws {
        let machine = try Machine()
        try machine.startBus()
        try machine.unlock()
        try machine.call(
            "org.freedesktop.login1.Session Lock",
            on: "org.freedesktop.login1 /org/freedesktop/login1/session/2")
        // The announcements arrive in order; after the second one, the first has been handled.
        try machine.announceSleep(false)
        try machine.waitForInhibitor()
        #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
        try machine.call(
            "org.freedesktop.login1.Session Lock",
            on: "org.freedesktop.login1 /org/freedesktop/login1/session/1")
        try machine.waitForLock()
        // The agent still runs, and can be used again.
        try machine.shell("watchword \(AgentFixture.unlock)")
        #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("the agent delays sleep until it has locked, and again after the machine wakes")
    func sleep() throws {
        let machine = try Machine()
        try machine.startBus()
        try machine.unlock()
        try machine.announceSleep(true)
        try machine.waitForNoInhibitor()
        #expect(
            try machine.agent.run("agent status").text
                == "The agent is running; no vault is unlocked.\n")
        try machine.announceSleep(false)
        try machine.waitForInhibitor()
    }

    @Test("a bus that is missing, silent or ends does not harm the agent")
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
        // One that answers with nonsense.
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
        // One that ends.
        try machine.startBus()
        try machine.unlock()
        try machine.endBus()
        for _ in 0..<3 {
            #expect(try machine.agent.run("code Site --at 59").text == "287082\n")
        }
    }
}
