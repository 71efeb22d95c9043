internal import Glibc
internal import Synchronization

/// An open connection: its socket, its peer, and the deadline for its client.
final class ConnectionRecord: Sendable {
    let socket: Int32
    let peer: PeerAddress
    let life: ConnectionLife
    private let exchange = Mutex<Exchange?>(nil)
    /// The deadline in the registry's nanoseconds; the largest number while the client has nothing
    /// to do.
    ///
    /// It is written at each step of each request, so it is atomic instead of locked.
    fileprivate let deadline = Atomic<Int64>(.max)

    init(socket: Int32, peer: PeerAddress, life: ConnectionLife) {
        self.socket = socket
        self.peer = peer
        self.life = life
    }

    /// Called when the first line of a request has arrived.
    func begin(_ exchange: Exchange) { self.exchange.withLock { $0 = exchange } }

    /// Called when the request is over.
    ///
    /// Returns `nil` if there is none, or if it was already over.
    func endExchange() -> Exchange? {
        exchange.withLock { exchange in
            defer { exchange = nil }
            return exchange
        }
    }
}

/// The maximum lifetime of a connection.
struct ConnectionLife: Sendable {
    private let end: ContinuousClock.Instant
    private let retirement: Retirement

    init(until end: ContinuousClock.Instant, _ retirement: Retirement) {
        self.end = end
        self.retirement = retirement
    }

    /// Whether the lifetime has ended by `instant`.
    func isOver(by instant: ContinuousClock.Instant) -> Bool {
        end <= instant || retirement.isOver(by: instant)
    }
}

/// All open connections.
///
/// libmicrohttpd's own timeout restarts with every byte, so a client that occasionally sends a byte
/// could hold a connection forever. Here each part of a request has a deadline.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: ConnectionRecord] = [:]
        var countByOrigin: [[UInt8]: Int] = [:]
    }

    private let state = Mutex(State())
    private let limit: Int
    private let limitPerOrigin: Int
    private let start: ContinuousClock.Instant

    /// - Parameter limit: the maximum number of connections, including those of replaced daemons;
    ///   libmicrohttpd counts only its own.
    /// - Parameter start: the start time, by the clock of the deadlines.
    init(limit: Int, limitPerOrigin: Int, start: ContinuousClock.Instant) {
        self.start = start
        self.limit = limit
        self.limitPerOrigin = limitPerOrigin
    }

    /// The number of open connections.
    var count: Int { state.withLock { $0.connections.count } }

    /// Whether another connection from this address is accepted.
    func accepts(_ peer: PeerAddress) -> Bool {
        state.withLock { state in
            state.connections.count < limit
                && state.countByOrigin[peer.origin, default: 0] < limitPerOrigin
        }
    }

    func add(_ record: ConnectionRecord, until deadline: ContinuousClock.Instant) {
        setDeadline(deadline, of: record)
        state.withLock { state in
            state.connections[ObjectIdentifier(record)] = record
            state.countByOrigin[record.peer.origin, default: 0] += 1
        }
    }

    /// Must be called before the socket is closed, because its number can be reused after that.
    func remove(_ record: ConnectionRecord) {
        state.withLock { state in
            guard state.connections.removeValue(forKey: ObjectIdentifier(record)) != nil else {
                return
            }
            let left = state.countByOrigin[record.peer.origin, default: 1] - 1
            state.countByOrigin[record.peer.origin] = left > 0 ? left : nil
        }
    }

    /// Sets the deadline for the client; `nil` while the client has nothing to do.
    func setDeadline(_ deadline: ContinuousClock.Instant?, of record: ConnectionRecord) {
        record.deadline.store(deadline.map(nanoseconds) ?? .max, ordering: .relaxed)
    }

    private func nanoseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (instant - start).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Closes all connections whose deadline has passed at `now`, and returns their number.
    @discardableResult func cutOff(at now: ContinuousClock.Instant) -> Int {
        let end = nanoseconds(now)
        // Hold the lock, so that no socket is closed and reused in the meantime.
        return state.withLock { state in
            var count = 0
            for record in state.connections.values {
                let deadline = record.deadline.load(ordering: .relaxed)
                // Skip a client that has just completed a step and therefore has a new deadline.
                guard deadline <= end,
                    record.deadline.compareExchange(
                        expected: deadline, desired: .max, ordering: .relaxed
                    ).exchanged
                else { continue }
                shutdown(record.socket, Int32(SHUT_RDWR))
                count += 1
            }
            return count
        }
    }
}
