@testable import HTTPListener
import Synchronization
import TestSupport
import Testing
import WatchwordCoding
import WatchwordCryptography

/// A listener that echoes requests and counts them.
final class TestListener: Sendable {
    let listener: Listener
    private let count: Counter

    final class Counter: Sendable {
        private let value = Mutex(0)
        var current: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }

    init(
        on address: String = "127.0.0.1:0", tls: TLSIdentity? = nil,
        limits: ListenerLimits = ListenerLimits(),
        clock: ListenerClock? = nil,
        handler: Listener.Handler? = nil
    ) throws {
        let count = Counter()
        self.count = count
        guard let parsed = ListenAddress(parsing: address) else { throw TestFailure.badAddress }
        listener = try Listener(
            parsed, tls: tls, registry: ConnectionRegistry(limits) { clock?.now ?? .now },
            refuser: { refusal, _ in
                HTTPResponse(status: refusal.status, text: "refused")
            },
            handler: { request in
                count.add()
                if let handler { return await handler(request) }
                return HTTPResponse(
                    status: 200, headers: [HTTPField("X-Peer", request.peer)],
                    text: TestListener.echo(request))
            })
    }

    var port: UInt16 { listener.address.port }
    /// The number of requests that reached the handler.
    var handled: Int { count.current }

    /// Sends `text` on a new connection, and waits for the response.
    func answer(to text: String) async throws -> RawConnection.Answer? {
        try await answer(to: Array(text.utf8))
    }

    func answer(to bytes: [UInt8]) async throws -> RawConnection.Answer? {
        try await connection(sending: bytes).answer()
    }

    /// A new connection over which `text` has been sent.
    func connection(sending text: String) async throws -> RawConnection {
        try await connection(sending: Array(text.utf8))
    }

    func connection(sending bytes: [UInt8]) async throws -> RawConnection {
        let connection = try RawConnection(port: port)
        try await connection.send(bytes)
        return connection
    }

    func stop() async { _ = await listener.stop(grace: .seconds(60)) }

    /// The request on one line: method, target, body.
    static func echo(_ request: HTTPRequest) -> String {
        "\(request.method) \(request.target) \(request.body.text)"
    }
}

extension Listener {
    /// The number of requests that have begun but have not been answered yet.
    var begunCount: Int { begun.withLock { $0 } }

    /// The number of running daemons, one for each certificate in use.
    var daemonCount: Int { daemons.count }
}

enum TestFailure: Error { case badAddress }

/// A clock that a test sets.
final class ListenerClock: Sendable {
    private let time = Mutex(ContinuousClock.now)
    var now: ContinuousClock.Instant { time.withLock { $0 } }
    func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

/// The bytes to send, and the expected status; 0 if the connection is closed without a response.
struct RawCase: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    let status: Int
    var testDescription: String { name }

    init(_ name: String, _ text: String, _ status: Int) {
        self.name = name
        bytes = Array(text.utf8)
        self.status = status
    }

    /// Expects that `all` is exactly one response from the listener, or empty.
    func expectAnswer(_ all: [UInt8]) {
        guard status != 0 else {
            #expect(String(decoding: all, as: UTF8.self) == "", "\(name)")
            return
        }
        let answer = RawConnection.answer(in: all)
        #expect(answer?.status == status, "\(name)")
        if status != 200 { #expect(answer?.text == "refused", "\(name)") }
    }
}

/// A request with a body of three bytes.
func post(_ headers: String, _ body: String = "abc", version: String = "1.1") -> String {
    "POST /a HTTP/\(version)\r\nHost: x\r\n\(headers)\r\n\r\n\(body)"
}

/// A chunk of three bytes.
let chunks = "3\r\nabc\r\n0\r\n\r\n"

extension HTTPRequestError {
    /// A status code by which the test recognises the error; the service has its own table.
    fileprivate var status: Int {
        switch self {
        case .malformed, .refusedByLibrary: 400
        case .lengthRequired: 411
        case .bodyTooLarge: 413
        case .unknownExpectation: 417
        case .headersTooLarge: 431
        case .unknownTransferCoding: 501
        }
    }
}
