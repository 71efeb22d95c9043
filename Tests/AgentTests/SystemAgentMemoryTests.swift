import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography

@testable import WatchwordSystem

/// Limits on the system agent's memory that one user's requests can take.
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
struct SystemAgentMemoryTests {
    // The first byte of a request, after its version.
    private static let edit: UInt8 = 12
    private static let move: UInt8 = 20

    /// A client that has sent the beginning of a large request.
    private struct Sender: ~Copyable {
        let socket: FileDescriptor
        let client: AgentClient

        /// The response, instead of one to the whole request.
        func response() throws -> String { "\(try client.send(.status))" }
    }

    /// Connects to the agent, and sends the beginning of a request of this kind.
    private static func sender(
        of kind: UInt8, to agent: SystemAgentFixture
    ) throws -> Sender {
        let socket = try LocalSocket.connect(to: agent.folder.file("run/agent.sock"))
        try socket.setBlocking(true)
        let client = AgentClient(FrameConnection(try socket.duplicate()), isSystem: true)
        let beginning = [AgentProtocol.version, kind]
        let rest = [UInt8](repeating: 0, count: AgentProtocol.largestRequest - beginning.count)
        let size = UInt32(AgentProtocol.largestEdit).littleEndianBytes
        try socket.writeAll((size + beginning + rest).span)
        return Sender(socket: socket, client: client)
    }

    /// The peak memory of a process in bytes.
    private static func peakMemory(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ")[1])) << 10
    }

    @Test("a user's key derivations run one after another")
    func derivations() throws {
        let agent = try SystemAgentFixture()
        // The test itself acts as this user. A derivation takes 64 MiB.
        let entries = (1...4).map { "Bank\($0):me --presence per-use:passphrase" }
        try agent.keep(entries, of: .root, cost: 16)
        let opener = AgentFixture.opener
        let unlock = AgentRequest.unlock(.ofSystem, opener, ceiling: 20, .standard)
        guard case .listing(let listing) = try agent.client().send(unlock) else {
            Issue.record("no list")
            return
        }
        var requests = listing.entries.map { entry in
            AgentRequest.code(
                .ofSystem, entry.summary.id, .moment(59, offset: 0, isRefresh: false),
                .opener(opener))
        }
        requests += [
            .open(.ofSystem, opener, ceiling: 20), .prove(.ofSystem, opener, ceiling: 20),
        ]
        let connections = try requests.map { request in
            let socket = try LocalSocket.connect(to: agent.folder.file("run/agent.sock"))
            let connection = FrameConnection(socket)
            let frame = try FrameWriter()
            frame.append(AgentProtocol.version)
            frame.append(request)
            #expect(try connection.send(frame, timeout: .seconds(10)))
            return connection
        }
        for connection in connections {
            let received = try connection.receive(
                limit: 1 << 20, idleTime: .seconds(60),
                timeout: .seconds(10))
            guard case .frame(let frame) = received else {
                Issue.record("no response")
                return
            }
            let kind = try frame.withBytes { "\(try AgentResponse(parsing: $0))" }
                .prefix { $0.isLetter }
            #expect(["listing", "code", "done"].contains(kind))
        }
        #expect(try Self.peakMemory(of: agent.keyHolder()) < 3 * 64 << 20)
    }

    @Test("a user without an open vault cannot send a large edit")
    func edits() throws {
        let agent = try SystemAgentFixture()
        #expect(try Self.sender(of: Self.edit, to: agent).response() == "notHeld")
    }

    @Test("a user sends one vault at a time, and the next waits until a slow one times out")
    func moves() throws {
        let agent = try SystemAgentFixture()
        let first = try Self.sender(of: Self.move, to: agent)
        // The agent continues to read when the request has its turn.
        try first.socket.writeAll([UInt8](repeating: 0, count: 1 << 20).span)
        let next = try Self.sender(of: Self.move, to: agent)
        #expect(throws: AgentFailure.noResponseFromSystem) { try first.response() }
        // The next request is neither refused nor timed out yet.
        #expect(try !Polling.ready(of: [next.client.readable], timeout: .seconds(1))[0])
    }

    @Test("a user's second PAM check is refused with a message that states the first one's purpose")
    func checks() throws {
        let agent = try SystemAgentFixture()
        try agent.configure("optional pam_unix.so\nauth required pam_permit.so")
        for user in [SystemAgentFixture.User.root, .games] {
            try agent.keep(["Bank:me --presence per-use:pam"], of: user)
        }
        let opener = AgentFixture.opener
        let unlock = AgentRequest.unlock(.ofSystem, opener, ceiling: 20, .standard)
        guard case .listing(let listing) = try agent.client().send(unlock) else {
            Issue.record("no list")
            return
        }
        let id = listing.entries[0].summary.id
        var clients: [AgentClient] = []
        func response() throws -> String {
            let client = try agent.client()
            clients.append(client)
            let time = CodeTime.moment(59, offset: 0, isRefresh: false)
            return "\(try client.send(.code(.ofSystem, id, time, .modules("now"))))"
        }
        #expect(try response().hasPrefix("asks"))
        let refused = "alreadyAsking(for: \"Bank:me\")"
        for _ in 1...5 { #expect(try response().contains(refused)) }
        // Another user is asked at the same time.
        let other = try agent.terminal("code Bank --at 59 --passphrase-file pass.txt")
        try other.waitFor("assword: ")
        try other.type("\u{3}")
        _ = try other.end()
        clients.removeFirst()
        // The agent may not have noticed the end yet.
        var last = try response()
        while last.contains(refused) { last = try response() }
        #expect(last.hasPrefix("asks"))
        // The refusals were not counted.
        let show = AgentRequest.lockOut(.ofSystem, id)
        guard case .lockOut(let lockOut) = try agent.client().send(show) else {
            Issue.record("no answer")
            return
        }
        #expect(lockOut.seconds == 0)
    }
}
