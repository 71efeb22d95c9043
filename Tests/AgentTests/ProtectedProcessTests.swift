import DeviceLogin
import Foundation
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

/// Tests of what another program of the same user can read while a device key is used.
@Suite(.serialized, .enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
struct ProtectedProcessTests {
    private static let pin = "a PIN that is a whole sentence 1"

    private let agent: AgentFixture
    private let server: KeyServer
    private let tpm: EmulatedTPM

    init() throws {
        // Root may read every process.
        agent = try AgentFixture([], asOrdinaryUser: true)
        server = try KeyServer()
        tpm = try EmulatedTPM()
        try agent.run(AgentFixture.unlock)
        try agent.shell("umask 077; echo '\(Self.pin)' >pin.txt")
    }

    private func enrolment(at address: String, _ more: String) throws -> String {
        let ticket = try server.ticket().text
        try agent.shell("umask 077; echo \(ticket) >ticket.txt")
        return "key enrol Mill:ann --server \(address) --ticket-file ticket.txt "
            + "--presence per-unlock --tpm \(tpm.address) --pin --pin-file pin.txt \(more)"
    }

    /// Starts a command in the background, and returns its process.
    private func start(_ command: String) throws -> Int32 {
        // Close the descriptors by which this process detects the end of the shell.
        let script =
            "import subprocess, sys; "
            + "print(subprocess.Popen(sys.argv[1:], stdout=open('out', 'w'), stderr=subprocess.STDOUT).pid)"
        let text = try agent.shell("python3 -c \"\(script)\" \(command)").text
        return try #require(Int32(text.filter(\.isNumber)))
    }

    /// Runs a command that hangs, and expects that its processes cannot be read once it does.
    ///
    /// - Parameters:
    ///   - helper: the helper process for which the command waits.
    ///   - hasAgent: whether the agent starts the helper.
    private func expectProtected(
        _ command: String, waitingFor helper: String, hasAgent: Bool, once isHanging: () -> Bool
    ) throws {
        let more = hasAgent ? "" : " --passphrase-file pass.txt"
        let client = try start("watchword \(command)\(more)")
        defer { kill(client, SIGKILL) }
        try #require(isHanging(), "\(helper)")
        let parent = hasAgent ? try agent.supervisor() : client
        let children = try agent.shell("ps -o pid=,comm= --ppid \(parent)").text
            .split(separator: "\n").map { $0.split(separator: " ") }
        // The kernel keeps only 15 bytes of a process name.
        let found = children.first { $0.last.map(String.init) == String(helper.prefix(15)) }
        let process = try #require(found?.first.flatMap { Int32($0) }, "\(children)")
        try agent.expectProtected(client, "client")
        try agent.expectProtected(process, "\(helper)")
        guard hasAgent else { return }
        try agent.expectProtected(parent, "supervisor")
        try agent.expectProtected(agent.keyHolder(), "key holder")
        // This ends the request.
        try agent.run("lock")
        try agent.run(AgentFixture.unlock)
    }

    @Test("K-83 no process that learns a PIN, an authorization value or a ticket can be dumped")
    func dumps() throws {
        // Other processes of this user can be read.
        let other = try start("sleep 600")
        defer { kill(other, SIGKILL) }
        try agent.shell("head -c 1 /proc/\(other)/auxv")
        try agent.run(try enrolment(at: server.address, ""))
        for hasAgent in [true, false] {
            let silent = try HostileTPM(tpm, .silent, at: .sign)
            try expectProtected(
                "key present mill --pin-file pin.txt --tpm \(silent.address)",
                waitingFor: "watchword-token", hasAgent: hasAgent
            ) { silent.waitUntilHolding() }
            try tpm.flush()
            // A server that never answers.
            let socket = try LoopbackSocket.listening()
            let lost = try enrolment(at: "http://localhost:\(socket.port)", "--device-name x")
                .replacing("Mill:ann", with: "Lost:\(hasAgent)")
            let connection = Held()
            try expectProtected(lost, waitingFor: "watchword-courier", hasAgent: hasAgent) {
                connection.take(from: socket)
            }
        }
    }

    /// A connection that the server keeps open.
    private final class Held {
        private var connection: LoopbackSocket?

        /// Waits for a client and its request.
        func take(from socket: LoopbackSocket) -> Bool {
            guard socket.isReadable(within: 60_000) else { return false }
            connection = socket.accepted()
            return connection?.receive() != nil
        }
    }
}
