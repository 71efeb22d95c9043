import Foundation
import Synchronization
import TestSupport

/// A proxy between clients and a PostgreSQL server that cuts, truncates, delays and loses messages
/// on demand.
public final class FaultyProxy: Sendable {
    /// The port on 127.0.0.1 to which clients connect.
    public let port: UInt16
    private let listener: LoopbackSocket
    private let state = ProxyState()
    private let connections = Mutex<[Weak]>([])

    private struct Weak { weak var connection: ProxiedConnection? }

    /// Listens for clients, and connects each of them to the server on `port`.
    public init(to port: UInt16) throws {
        listener = try LoopbackSocket.listening()
        self.port = listener.port
        let (listener, state) = (listener, state)
        Thread.detachNewThread { [weak self] in
            while let client = listener.accepted() {
                // For a client that is refused, or that connects while the server is down, the
                // connection ends at once.
                guard !state.isRefusing, let server = try? LoopbackSocket.connected(to: port) else {
                    client.end()
                    continue
                }
                let made = ProxiedConnection(client: client, server: server, state: state)
                self?.add(made)
                made.start()
            }
        }
    }

    deinit {
        listener.end()
        heal()
        cutAll()
    }

    /// The URL of the database `name` through this proxy.
    public func url(_ name: String, user: String = "watchword") -> String {
        "postgresql://\(user)@127.0.0.1:\(port)/\(name)"
    }

    /// The URL of the database in `url`, but through this proxy.
    public func url(for url: String) -> String {
        self.url(url.split(separator: "/").last.map(String.init) ?? url)
    }

    /// Arms a fault, which occurs once, at its place.
    ///
    /// Bytes and messages are counted from this call on, even without a fault.
    public func arm(_ fault: ProxyFault?) { state.arm(fault) }

    /// Whether the armed fault has not occurred yet.
    public var isArmed: Bool { state.hasFault }

    /// Waits until the fault has occurred.
    public func awaitFault() throws {
        try poll("the fault happens") { !isArmed }
    }

    /// The largest number of bytes that a single connection has sent in this direction since
    /// ``arm(_:)``.
    public func passed(_ way: ProxyFault.Way) -> Int { state.passed(way) }

    /// Stops forwarding without closing connections.
    ///
    /// New connections are accepted but not forwarded.
    public func stall() { state.stall() }

    /// Delays each message.
    public func delay(by delay: Duration) { state.delay(by: delay) }

    /// Closes all connections, and every new connection immediately.
    public func refuse() {
        state.refuse()
        cutAll()
    }

    /// Closes all current connections.
    public func cutAll() {
        for weak in connections.withLock({ $0 }) { weak.connection?.cut() }
    }

    /// Forwards all messages again, including the delayed ones.
    public func heal() { state.heal() }

    private func add(_ connection: ProxiedConnection) {
        connections.withLock { list in
            list.removeAll { $0.connection == nil }
            list.append(Weak(connection: connection))
        }
    }
}
