internal import Glibc
internal import Synchronization

/// An open connection: its socket, where it comes from, and until when its client must have done its part.
final class ConnectionRecord: Sendable {
    let socket: Int32
    let peer: PeerAddress
    let life: ConnectionLife
    private let exchange = Mutex<Exchange?>(nil)
    /// When it is cut off, in nanoseconds of the registry's; the largest number while it is our turn.
    ///
    /// Written at each step of each request, so it needs no lock.
    fileprivate let deadline = Atomic<Int64>(.max)

    init(socket: Int32, peer: PeerAddress, life: ConnectionLife) {
        self.socket = socket
        self.peer = peer
        self.life = life
    }

    /// The first line of a request has come.
    func begin(_ exchange: Exchange) { self.exchange.withLock { $0 = exchange } }

    /// The request is over; `nil` when there is none, or when it was over before.
    func endExchange() -> Exchange? {
        exchange.withLock { exchange in
            defer { exchange = nil }
            return exchange
        }
    }
}

/// How long a connection may be used at most.
struct ConnectionLife: Sendable {
    private let end: ContinuousClock.Instant
    private let retirement: Retirement

    init(until end: ContinuousClock.Instant, _ retirement: Retirement) {
        self.end = end
        self.retirement = retirement
    }

    /// Whether it is over by `instant`.
    func isOver(by instant: ContinuousClock.Instant) -> Bool {
        end <= instant || retirement.isOver(by: instant)
    }
}

/// All open connections.
///
/// libmicrohttpd's own time-out counts from the last byte, so that a client who sends one now and then
/// holds a connection for ever. Here each part of a request has an end.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: ConnectionRecord] = [:]
        var countOfOrigin: [[UInt8]: Int] = [:]
    }

    private let state = Mutex(State())
    private let limit: Int
    private let limitPerOrigin: Int
    private let start: ContinuousClock.Instant

    /// - Parameter limit: how many there may be together, those of a daemon that is replaced among them:
    ///   libmicrohttpd counts its own only.
    /// - Parameter start: when it starts, by the clock of the deadlines.
    init(limit: Int, limitPerOrigin: Int, start: ContinuousClock.Instant) {
        self.start = start
        self.limit = limit
        self.limitPerOrigin = limitPerOrigin
    }

    /// How many connections are open.
    var count: Int { state.withLock { $0.connections.count } }

    /// Whether one more connection from there is welcome.
    func accepts(_ peer: PeerAddress) -> Bool {
        state.withLock { state in
            state.connections.count < limit
                && state.countOfOrigin[peer.origin, default: 0] < limitPerOrigin
        }
    }

    func add(_ record: ConnectionRecord, until deadline: ContinuousClock.Instant) {
        setDeadline(deadline, of: record)
        state.withLock { state in
            state.connections[ObjectIdentifier(record)] = record
            state.countOfOrigin[record.peer.origin, default: 0] += 1
        }
    }

    /// To be called before the socket is closed: its number may then be another connection's.
    func remove(_ record: ConnectionRecord) {
        state.withLock { state in
            guard state.connections.removeValue(forKey: ObjectIdentifier(record)) != nil else {
                return
            }
            let left = state.countOfOrigin[record.peer.origin, default: 1] - 1
            state.countOfOrigin[record.peer.origin] = left > 0 ? left : nil
        }
    }

    /// Says until when the client must have done its part; `nil` when it is our turn.
    func setDeadline(_ deadline: ContinuousClock.Instant?, of record: ConnectionRecord) {
        record.deadline.store(deadline.map(nanoseconds) ?? .max, ordering: .relaxed)
    }

    private func nanoseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (instant - start).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Cuts off every connection whose time is over at `now`, and tells how many.
    @discardableResult func cutOff(at now: ContinuousClock.Instant) -> Int {
        let end = nanoseconds(now)
        // Under the lock, so that none of the sockets is closed and given away meanwhile.
        return state.withLock { state in
            var count = 0
            for record in state.connections.values {
                let deadline = record.deadline.load(ordering: .relaxed)
                // Who did his part in this very moment has another deadline, and is left alone.
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
