internal import Glibc
internal import Synchronization

/// An open connection: its socket, its peer, and the deadline for its client.
final class ConnectionRecord: Sendable {
    let socket: Int32
    let peer: PeerAddress
    let life: ConnectionLife
    private let exchange = Mutex<ConnectionExchange?>(nil)
    /// Whether a request has begun on the connection.
    fileprivate let hasRequest = Atomic(false)
    /// Whether the registry trusts the peer.
    fileprivate let isTrusted = Atomic(false)
    /// The deadline in the registry's nanoseconds; the largest number while the client has nothing
    /// to do.
    ///
    /// It is written at each step of each request, so it is atomic instead of locked.
    let deadline = Atomic<Int64>(.max)

    init(socket: Int32, peer: PeerAddress, life: ConnectionLife) {
        self.socket = socket
        self.peer = peer
        self.life = life
    }

    /// Ends the connection; libmicrohttpd notices this and closes the socket.
    func shutDown() { shutdown(socket, Int32(SHUT_RDWR)) }

    /// Called when the first line of a request has arrived.
    func begin(_ exchange: ConnectionExchange) {
        self.exchange.withLock { $0 = exchange }
        hasRequest.store(true, ordering: .relaxed)
    }

    /// Called when the request is over.
    ///
    /// Returns `nil` if there is no request, or if the request was already over.
    func endExchange() -> ConnectionExchange? {
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
///
/// When there are too many connections, a new one replaces one that waits for its client: on the
/// site with the most connections, preferably one without a request, and then the one that has
/// waited longest. Peers that have sent an authenticated request are trusted. Their connections are
/// replaced last, and a quarter of all connections is kept for them.
final class ConnectionRegistry: Sendable {
    fileprivate struct State {
        /// All connections whose sockets are open.
        var connections: [ObjectIdentifier: ConnectionRecord] = [:]
        var countByOrigin: [[UInt8]: Int] = [:]
        /// The connections that have not been replaced.
        var bySite: [[UInt8]: [ConnectionRecord]] = [:]
        /// The number of connections in ``bySite`` whose peer is not trusted.
        var strangerCount = 0
        /// The number of connections that have been replaced but are not closed yet.
        var replacedCount = 0
        /// The order in which origins became trusted.
        var trusted: [[UInt8]: Int] = [:]
        var lastTrusted = 0
    }

    private let state = Mutex(State())
    let limits: ListenerLimits
    /// The clock of the deadlines.
    let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant

    /// The maximum number of trusted origins; beyond it, the earliest one is forgotten.
    private static let trustedLimit = 1_024

    init(
        _ limits: ListenerLimits, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limits = limits
        self.now = now
        start = now()
    }

    /// The number of open connections.
    var count: Int { state.withLock { $0.connections.count } }

    /// Whether a further connection from this address is accepted.
    ///
    /// The new connection may replace an existing one, which is then closed.
    func accepts(_ peer: PeerAddress) -> Bool {
        let limit = limits.connections
        let limitPerOrigin = limits.connectionsPerAddress
        return state.withLock { state in
            // Connections that have been replaced are closed a moment later, so some room is left
            // for them.
            let usable = limit - limit / 16
            let isTrusted = state.trusted[peer.origin] != nil
            guard state.connections.count < limit else { return false }
            if !limits.isProxy(peer.text) {
                let siteCount = isTrusted ? 0 : state.bySite[peer.site]?.count ?? 0
                guard state.countByOrigin[peer.origin, default: 0] < limitPerOrigin,
                    siteCount < 4 * limitPerOrigin || peer.site == peer.origin
                else { return false }
            }
            let count = state.connections.count - state.replacedCount
            let share = usable - usable / 4
            let isFull =
                count >= usable
                || !isTrusted && state.strangerCount >= share
            guard isFull else { return true }
            return replace(in: &state, trusted: false)
                || isTrusted && replace(in: &state, trusted: true)
        }
    }

    /// Closes connections to make room: a few at once, because each search visits all of them.
    ///
    /// A site with at most half as many connections as the busiest site loses none.
    ///
    /// - Returns: `false` if no connection waits for its client.
    private func replace(in state: inout State, trusted: Bool) -> Bool {
        var sites: [(count: Int, deadline: Int64, records: [ConnectionRecord])] = []
        for records in state.bySite.values {
            let records = records.filter { $0.isTrusted.load(ordering: .relaxed) == trusted }
            let deadline = records.map { $0.deadline.load(ordering: .relaxed) }.min() ?? .max
            if deadline < .max { sites.append((records.count, deadline, records)) }
        }
        sites.sort { (-$0.count, $0.deadline) < (-$1.count, $1.deadline) }
        let enough = (sites.first?.count ?? 0) / 2
        let room = max(1, limits.connections / 64)
        var count = 0
        for site in sites where count < room && site.count > enough {
            let waiting = site.records.map { record in
                (
                    record, hasRequest: record.hasRequest.load(ordering: .relaxed) ? 1 : 0,
                    deadline: record.deadline.load(ordering: .relaxed)
                )
            }.filter { $0.deadline < .max }
                .sorted { ($0.hasRequest, $0.deadline) < ($1.hasRequest, $1.deadline) }
            for (record, _, deadline) in waiting.prefix(min(room - count, site.count - enough))
            where Self.cutOff(record, ifStill: deadline) {
                state.forget(record)
                state.replacedCount += 1
                count += 1
            }
        }
        return count > 0
    }

    /// Called when the connection's peer has sent an authenticated request.
    func trust(_ record: ConnectionRecord) {
        guard !record.isTrusted.load(ordering: .relaxed) else { return }
        let peer = record.peer
        state.withLock { state in
            for other in state.bySite[peer.site] ?? [] where other.peer.origin == peer.origin {
                let wasTrusted = other.isTrusted.exchange(true, ordering: .relaxed)
                if !wasTrusted { state.strangerCount -= 1 }
            }
            state.lastTrusted += 1
            state.trusted[peer.origin] = state.lastTrusted
            guard state.trusted.count > Self.trustedLimit,
                let first = state.trusted.min(by: { $0.value < $1.value })
            else { return }
            state.trusted[first.key] = nil
        }
    }

    func add(_ record: ConnectionRecord, until deadline: ContinuousClock.Instant) {
        setDeadline(deadline, of: record)
        state.withLock { state in
            state.connections[ObjectIdentifier(record)] = record
            state.countByOrigin[record.peer.origin, default: 0] += 1
            state.bySite[record.peer.site, default: []].append(record)
            let isTrusted = state.trusted[record.peer.origin] != nil
            record.isTrusted.store(isTrusted, ordering: .relaxed)
            if !isTrusted { state.strangerCount += 1 }
        }
    }

    /// Called before the socket is closed, because its number can be reused after that.
    func remove(_ record: ConnectionRecord) {
        state.withLock { state in
            guard state.connections.removeValue(forKey: ObjectIdentifier(record)) != nil else {
                return
            }
            let left = state.countByOrigin[record.peer.origin, default: 1] - 1
            state.countByOrigin[record.peer.origin] = left > 0 ? left : nil
            if !state.forget(record) { state.replacedCount -= 1 }
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
                if deadline <= end, Self.cutOff(record, ifStill: deadline) { count += 1 }
            }
            return count
        }
    }

    /// Closes a connection, unless its client has just completed a step and therefore has a new
    /// deadline.
    private static func cutOff(_ record: ConnectionRecord, ifStill deadline: Int64) -> Bool {
        let isSame = record.deadline.compareExchange(
            expected: deadline, desired: .max, ordering: .relaxed
        ).exchanged
        guard isSame else { return false }
        // The kernel drops the data that the client has not read, instead of keeping it.
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout.size(ofValue: option))
        _ = unsafe setsockopt(record.socket, SOL_SOCKET, SO_LINGER, &option, size)
        record.shutDown()
        return true
    }
}

extension ConnectionRegistry.State {
    /// Removes a connection from its site.
    ///
    /// - Returns: whether it was there.
    @discardableResult fileprivate mutating func forget(_ record: ConnectionRecord) -> Bool {
        let site = record.peer.site
        guard let index = bySite[site]?.firstIndex(where: { $0 === record }) else { return false }
        bySite[site]?.remove(at: index)
        if !record.isTrusted.load(ordering: .relaxed) { strangerCount -= 1 }
        if bySite[site]?.isEmpty ?? false { bySite[site] = nil }
        return true
    }
}
