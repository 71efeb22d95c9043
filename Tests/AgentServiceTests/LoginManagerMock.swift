import Foundation
import POSIX
import TestSupport
import Testing

/// A system bus that belongs to the test, with a login manager.
final class LoginManagerMock {
    /// The bus's address.
    let address: String
    private let folder: TemporaryFolder
    private var processes: [String] = []

    /// Whether the programs that it needs are installed.
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

    private static let manager = "org.freedesktop.login1 /org/freedesktop/login1"
    private static let mock = "org.freedesktop.DBus.Mock"

    /// It has an address, but does not run yet.
    init(in folder: TemporaryFolder) {
        self.folder = folder
        address = "unix:path=\(folder.file("bus"))"
    }

    deinit {
        for process in processes {
            do { try shell("kill \(process) 2>/dev/null || true") } catch {}
        }
    }

    /// Starts the bus, and the login manager with a session of each of these users: 1, 2 and so on.
    func start(sessions users: [UInt32]) throws {
        let configuration = """
            <busconfig><type>system</type><listen>\(address)</listen>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/>
            <allow receive_sender="*" eavesdrop="true"/><allow own="*"/><allow user="*"/>
            </policy></busconfig>
            """
        try folder.write(Array(configuration.utf8), to: "bus.conf")
        try start("dbus-daemon --config-file=bus.conf --nofork")
        try shell(Self.waiting("[ -S bus ]"))
        try start("/usr/bin/python3 -m dbusmock --system --template logind")
        try shell(
            Self.waiting(
                "busctl --address='\(address)' status org.freedesktop.login1 >/dev/null 2>&1"))
        for (index, user) in users.enumerated() {
            try call("\(Self.mock) AddSession ssusb \(index + 1) seat0 \(user) someone true")
        }
    }

    /// Ends the bus and the login manager.
    func end() throws {
        try shell("kill \(processes.joined(separator: " ")); rm -f bus")
        processes = []
    }

    /// Announces that a session is locked.
    func lockSession(_ number: Int) throws {
        try call(
            "org.freedesktop.login1.Session Lock",
            on: "org.freedesktop.login1 /org/freedesktop/login1/session/\(number)")
    }

    /// Announces that the machine is about to sleep, or has woken up.
    func announceSleep(_ starts: Bool) throws {
        try call(
            "\(Self.mock) EmitSignal sssav org.freedesktop.login1.Manager PrepareForSleep b 1 b "
                + "\(starts)")
    }

    /// Waits until an agent delays sleep, or until none does.
    func wait(untilDelayed isDelayed: Bool) throws {
        let inhibitors =
            "busctl --address='\(address)' call \(Self.manager) "
            + "org.freedesktop.login1.Manager ListInhibitors | grep -q delay"
        try shell(Self.waiting(isDelayed ? inhibitors : "! \(inhibitors)"))
    }

    /// A command that waits until another one succeeds.
    static func waiting(_ condition: String) -> String {
        "timeout 60 sh -c \"until \(condition); do sleep 0.05; done\""
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

    private func call(_ method: String, on object: String = manager) throws {
        try shell("busctl --address='\(address)' call \(object) \(method)")
    }

    @discardableResult
    private func shell(_ command: String) throws -> ForeignProgram.Outcome {
        let outcome = try ForeignProgram(path: "/bin/sh").run(
            [
                "-c",
                "cd '\(folder.path)'; export DBUS_SYSTEM_BUS_ADDRESS='\(address)'\n\(command)",
            ])
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        #expect(outcome.status == 0, "\(command)\n\(outcome.text)\(errors)")
        return outcome
    }
}
