import Foundation
import Synchronization
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import LocalSockets

/// The requests that arrived, and the number of requests that were answered at the same time.
private final class Record: Sendable {
    private let state = Mutex<(requests: [[UInt8]], running: Int, most: Int)>(([], 0, 0))
    private let closings = Mutex<[ClosingCause]>([])

    var closed: [ClosingCause] { closings.withLock { $0 } }

    var requests: [[UInt8]] { state.withLock { $0.requests } }
    var most: Int { state.withLock { $0.most } }

    func begin(_ request: SecretBytes) {
        let bytes = request.withBytes { [UInt8](copying: $0) }
        state.withLock { state in
            state.requests.append(bytes)
            state.running += 1
            state.most = max(state.most, state.running)
        }
    }

    func close(_ cause: ClosingCause) { closings.withLock { $0.append(cause) } }

    func end() { state.withLock { $0.running -= 1 } }

    /// Waits until this number of requests has arrived.
    func wait(for count: Int) async throws {
        while requests.count < count { try await Task.sleep(for: .milliseconds(1)) }
    }
}

@Suite("Sockets for programs on this machine", .timeLimit(.minutes(5)))
struct LocalListenerTests {
    private let folder: TemporaryFolder
    private let record = Record()

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.file("s") }

    private func endpoint() throws -> LocalEndpoint {
        try LocalEndpoint.make(at: path, mode: 0o600)
    }

    /// Starts a listener that returns the four bytes of a request in reverse order.
    private func start(
        on endpoint: LocalEndpoint, connections: Int = 8, perUser: Int = 8,
        timeout: Duration = .seconds(60), holding gate: Gate? = nil,
        admitting admits: @escaping @Sendable (LocalSocket.Peer) -> Bool = { _ in true }
    ) throws -> LocalListener {
        let record = record
        let limits = ExchangeLimits(
            requestCount: 4, connections: connections, connectionsPerUser: perUser,
            requestTimeout: timeout)
        let use = LocalEntrance.Use.exchange(limits) { request, _ in
            record.begin(request)
            await gate?.pass()
            defer { record.end() }
            let bytes = request.withBytes { [UInt8](copying: $0) }
            return bytes.count == 4 ? bytes.reversed() : nil
        }
        return try #require(
            try LocalListener.start([
                LocalEntrance(endpoint, admitting: admits, for: use) { record.close($0) }
            ]))
    }

    @Test("a request gets one response, and the connection is closed")
    func exchange() async throws {
        let listener = try start(on: endpoint())
        #expect(try await LocalClient(path, sending: [1, 2, 3, 4]).awaitAnswer() == [4, 3, 2, 1])
        let slow = try LocalClient(path, sending: [5, 6])
        try slow.send([7])
        try slow.send([8])
        #expect(try await slow.awaitAnswer() == [8, 7, 6, 5])
        #expect(await listener.stop(grace: .seconds(60)))
    }

    @Test("a request that is too long is detected, and one that is too short is not answered")
    func sizes() async throws {
        let listener = try start(on: endpoint())
        #expect(try await LocalClient(path, sending: [1, 2, 3, 4, 5]).awaitAnswer() == [])
        #expect(record.requests == [[1, 2, 3, 4, 5]])
        let short = try LocalClient(path, sending: [1, 2, 3])
        short.file.shutDown()
        // The listener accepts connections in order.
        #expect(try await LocalClient(path, sending: [6, 7, 8, 9]).awaitAnswer() == [9, 8, 7, 6])
        #expect(record.requests == [[1, 2, 3, 4, 5], [6, 7, 8, 9]])
        #expect(await listener.stop(grace: .seconds(60)))
    }

    @Test("the listener does not wait for a client that does not send its request in time")
    func timeout() async throws {
        let listener = try start(on: endpoint(), timeout: .milliseconds(50))
        #expect(try await LocalClient(path).awaitAnswer() == [])
        #expect(try await LocalClient(path, sending: [1, 2, 3]).awaitAnswer() == [])
        #expect(record.requests == [])
        #expect(await listener.stop(grace: .seconds(60)))
    }

    @Test("the request of a client that has disconnected is not handled")
    func gone() async throws {
        let endpoint = try endpoint()
        do {
            let client = try LocalClient(path, sending: [9, 9, 9, 9])
            client.file.shutDown()
        }
        let listener = try start(on: endpoint)
        #expect(try await LocalClient(path, sending: [1, 2, 3, 4]).awaitAnswer() == [4, 3, 2, 1])
        #expect(record.requests == [[1, 2, 3, 4]])
        #expect(await listener.stop(grace: .seconds(60)))
    }

    @Test("1,280 simultaneous clients are all answered, although few are served at a time")
    func many() async throws {
        let count = 1_280
        // Both ends of each connection may be open in this process.
        try #require(try OpenFileLimit.raise(to: 4_096) >= count + 512)
        let listener = try start(on: endpoint(), connections: 64, perUser: 64)
        let path = path
        let requests = (0..<count).map { number -> [UInt8] in
            [0, 0, UInt8(number >> 8), UInt8(number & 0xFF)]
        }
        let answers = try await onOwnThread {
            let clients = try requests.map { try LocalClient(path, sending: $0) }
            return try clients.map { try $0.answer() }
        }
        let expected = requests.map { [UInt8]($0.reversed()) }
        #expect(answers == expected)
        #expect(record.most <= 64)
        #expect(await listener.stop(grace: .seconds(60)))
    }

    @Test("a user's connections beyond the user's limit are closed")
    func limitOfUser() async throws {
        let gate = Gate()
        let listener = try start(on: endpoint(), connections: 2, perUser: 1, holding: gate)
        let first = try LocalClient(path, sending: [1, 1, 1, 1])
        try await record.wait(for: 1)
        #expect(try await LocalClient(path, sending: [2, 2, 2, 2]).awaitAnswer() == [])
        await gate.open()
        #expect(try await first.awaitAnswer() == [1, 1, 1, 1])
        #expect(await listener.stop(grace: .seconds(60)))
        #expect(record.requests == [[1, 1, 1, 1]] && record.closed == [.tooMany])
    }

    @Test("connections beyond the limit wait, and are accepted as soon as there is room")
    func room() async throws {
        let gate = Gate()
        let listener = try start(on: endpoint(), connections: 1, perUser: 1, holding: gate)
        let first = try LocalClient(path, sending: [1, 1, 1, 1])
        try await record.wait(for: 1)
        let second = try LocalClient(path, sending: [2, 2, 2, 2])
        await gate.open()
        #expect(try await first.awaitAnswer() == [1, 1, 1, 1])
        #expect(try await second.awaitAnswer() == [2, 2, 2, 2])
        #expect(record.most == 1)
        #expect(await listener.stop(grace: .seconds(60)))
    }

    @Test("a process that may not connect gets no response")
    func refused() async throws {
        let listener = try start(on: endpoint(), admitting: { $0.user != geteuid() })
        #expect(try await LocalClient(path, sending: [1, 2, 3, 4]).awaitAnswer() == [])
        #expect(await listener.stop(grace: .seconds(60)))
        #expect(record.requests == [] && record.closed == [.foreignUser])
    }

    @Test("stopping completes the responses to requests that have arrived, and closes the socket")
    func stopping() async throws {
        let gate = Gate()
        let listener = try start(on: endpoint(), holding: gate)
        let silent = try LocalClient(path)
        let first = try LocalClient(path, sending: [1, 2, 3, 4])
        try await record.wait(for: 1)
        #expect(await !listener.stop(grace: .zero))
        #expect(try await silent.awaitAnswer() == [])
        #expect(!FileManager.default.fileExists(atPath: path))
        await gate.open()
        #expect(try await first.awaitAnswer() == [4, 3, 2, 1])
        #expect(await listener.stop(grace: .seconds(60)))
    }

    @Test("a request that arrives while the listener stops is answered")
    func late() async throws {
        let listener = try start(on: endpoint())
        let late = try LocalClient(path, sending: [1, 2, 3])
        // The listener accepts connections in order.
        #expect(try await LocalClient(path, sending: [5, 6, 7, 8]).awaitAnswer() == [8, 7, 6, 5])
        async let isComplete = listener.stop(grace: .seconds(60))
        while !listener.isStopping { await Task.yield() }
        try late.send([4])
        #expect(try await late.awaitAnswer() == [4, 3, 2, 1])
        #expect(await isComplete)
    }

    @Test("a conversation is handed over with the identity of the connected process")
    func conversation() async throws {
        let (peers, found) = AsyncStream.makeStream(of: LocalSocket.Peer.self)
        let use = LocalEntrance.Use.conversation { file, peer in
            found.yield(peer)
            do { _ = try file.writeAvailable([7].span) } catch {}
        }
        let entrance = LocalEntrance(
            try endpoint(), admitting: { _ in true }, for: use, noteClosed: { _ in })
        let listener = try #require(try LocalListener.start([entrance]))
        #expect(try await LocalClient(path).awaitAnswer() == [7])
        let peer = await peers.first { _ in true }
        #expect(peer?.process == getpid() && peer?.isThisUser == true)
        #expect(await listener.stop(grace: .seconds(60)))
    }

    @Test("a new socket replaces only a socket whose process has ended")
    func abandoned() async throws {
        let abandoned = try LocalSocket.listen(at: path)
        let inUse = SystemCallFailure(call: "bind", number: EADDRINUSE)
        #expect(throws: inUse) { _ = try LocalEndpoint.make(at: path, mode: 0o600) }
        // Closes the socket, but keeps its name.
        func end(_ file: consuming FileDescriptor) {}
        end(abandoned)
        let endpoint = try LocalEndpoint.make(at: path, mode: 0o666)
        #expect(try mode(of: path) == 0o666)
        try folder.write([1], to: "file")
        #expect(throws: inUse) {
            _ = try LocalEndpoint.make(at: folder.file("file"), mode: 0o600)
        }
        #expect(try folder.bytes(of: "file") == [1])
        withExtendedLifetime(endpoint) {}
    }
}
