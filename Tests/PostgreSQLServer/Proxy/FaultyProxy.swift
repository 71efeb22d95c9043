import Foundation
import Synchronization
import TestSupport

/// A proxy between clients and a PostgreSQL server, which cuts, halves, delays and loses on demand.
public final class FaultyProxy: Sendable {
    /// Where clients connect, at 127.0.0.1.
    public let port: UInt16
    private let listener: LoopbackSocket
    private let state = ProxyState()
    private let connections = Mutex<[Weak]>([])

    private struct Weak { weak var connection: ProxiedConnection? }

    /// Listens for clients, and connects each to the server at `port`.
    public init(to port: UInt16) throws {
        listener = try LoopbackSocket.listening()
        self.port = listener.port
        let (listener, state) = (listener, state)
        Thread.detachNewThread { [weak self] in
            while let client = listener.accepted() {
                // Who is refused sees the end at once; so does who comes while there is no server.
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

    /// The URL that leads through this proxy to the database that `url` leads to.
    public func url(for url: String) -> String {
        self.url(url.split(separator: "/").last.map(String.init) ?? url)
    }

    /// Waits from now on for the place of `fault`, and does it there, once.
    ///
    /// Bytes and messages are counted from here, also when there is no fault.
    public func arm(_ fault: ProxyFault?) { state.arm(fault) }

    /// Whether the fault that was armed last has not happened yet.
    public var isArmed: Bool { state.hasFault }

    /// Waits until the fault has happened.
    public func awaitFault() throws {
        try poll("the fault happens") { !isArmed }
    }

    /// The most bytes that one connection took this way since ``arm(_:)``.
    public func passed(_ way: ProxyFault.Way) -> Int { state.passed(way) }

    /// Nothing goes through any more, and nobody is told; new connections are taken and led nowhere.
    public func stall() { state.stall() }

    /// Each message is held back for so long.
    public func delay(by delay: Duration) { state.delay(by: delay) }

    /// Ends all connections, and each new one at once.
    public func refuse() {
        state.refuse()
        cutAll()
    }

    /// Ends all connections that there are.
    public func cutAll() {
        for weak in connections.withLock({ $0 }) { weak.connection?.cut() }
    }

    /// Everything goes through again, also what was held back.
    public func heal() { state.heal() }

    private func add(_ connection: ProxiedConnection) {
        connections.withLock { list in
            list.removeAll { $0.connection == nil }
            list.append(Weak(connection: connection))
        }
    }
}
