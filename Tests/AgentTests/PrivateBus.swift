import Foundation
import TestSupport
import Testing

/// A system bus that belongs to the test, with services that python3-dbusmock simulates.
final class PrivateBus {
    /// The value of the environment variable that gives programs the address of the bus.
    let address: String
    private let folder: TemporaryFolder
    private var processes: [String] = []

    /// The D-Bus object through which a mock is controlled.
    static let mock = "org.freedesktop.DBus.Mock"

    static let requirement: Comment = "dbus-daemon, busctl or python3-dbusmock is missing"

    /// Whether the programs are installed.
    static let isPossible: Bool = {
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

    /// Chooses the address; ``start()`` starts the bus.
    init(in folder: TemporaryFolder) {
        self.folder = folder
        address = "unix:path=\(folder.file("bus"))"
    }

    deinit {
        do { try end() } catch {}
    }

    /// Starts the bus, which every user may use.
    func start() throws {
        let configuration = """
            <busconfig><type>system</type><listen>\(address)</listen>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/>
            <allow receive_sender="*" eavesdrop="true"/><allow own="*"/><allow user="*"/>
            </policy></busconfig>
            """
        try folder.write(Array(configuration.utf8), to: "bus.conf")
        try launch("dbus-daemon --config-file=bus.conf --nofork")
        try wait("[ -S bus ]")
    }

    /// Starts a service with this name on the bus.
    ///
    /// - Parameters:
    ///   - template: the name of a template of python3-dbusmock, or the path of a template.
    ///   - parameters: the parameters of the template.
    /// - Returns: the service's process.
    @discardableResult
    func play(
        _ template: String, _ parameters: [String: String] = [:], as name: String
    ) throws -> String {
        let members = parameters.map { "\"\($0)\": \"\($1)\"" }.joined(separator: ", ")
        let process = try launch(
            "/usr/bin/python3 -m dbusmock --system --template \(template) --parameters "
                + "'{\(members)}'")
        try wait(hasService(name))
        return process
    }

    /// A shell command that succeeds if a service has this name on the bus.
    ///
    /// `busctl status` would also read control groups, and fails in a system without `/sys`.
    func hasService(_ name: String) -> String {
        "busctl --address='\(address)' call org.freedesktop.DBus /org/freedesktop/DBus "
            + "org.freedesktop.DBus GetNameOwner s \(name) >/dev/null 2>&1"
    }

    /// Calls a method; the arguments are those of `busctl call`.
    @discardableResult
    func call(_ arguments: String) throws -> String {
        try shell("busctl --address='\(address)' call \(arguments)").text
    }

    func python(_ script: String) throws {
        try folder.write(Array(script.utf8), to: "script.py")
        try shell("/usr/bin/python3 script.py")
    }

    /// Waits until a shell command succeeds.
    func wait(_ condition: String) throws {
        try shell(Self.waiting(condition))
    }

    /// A shell command that waits until `command` succeeds.
    static func waiting(_ condition: String) -> String {
        "timeout 60 sh -c \"until \(condition); do sleep 0.05; done\""
    }

    /// Ends the bus and its services.
    func end() throws {
        try shell("kill \(processes.joined(separator: " ")) 2>/dev/null; rm -f bus")
        processes = []
    }

    /// Starts a program in the background, and returns its process.
    @discardableResult
    private func launch(_ command: String) throws -> String {
        // Close the inherited files: Foundation waits until no process has them open.
        let starter =
            "import subprocess, sys; n = subprocess.DEVNULL; "
            + "print(subprocess.Popen(sys.argv[1:], stdin=n, stdout=n, stderr=n).pid)"
        let process = try shell("/usr/bin/python3 -c '\(starter)' \(command)").text
            .filter(\.isNumber)
        processes.append(process)
        return process
    }

    @discardableResult
    private func shell(_ command: String) throws -> ForeignProgram.Outcome {
        let outcome = try ForeignProgram(path: "/bin/sh").run(
            ["-c", "cd '\(folder.path)'\n\(command)"],
            environment: ["PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": address])
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        #expect(outcome.status == 0, "\(command)\n\(outcome.text)\(errors)")
        return outcome
    }
}
