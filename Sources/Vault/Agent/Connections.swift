internal import Synchronization
internal import WatchwordSystem

/// The connections of all clients, with their limits.
final class Connections: Sendable {
    /// The maximum number of clients of one user at a time.
    static let limitPerUser = 64
    /// The number of additional connections of one user that can always lock the vault.
    private static let reservedPerUser = 4
    /// The maximum number of threads for one user's clients, including the threads of ended
    /// connections, without the reserved ones.
    private static let threadsPerUser = 2 * limitPerUser
    /// The maximum number of clients at a time, without the reserved ones.
    private let limit: Int

    private struct Entry {
        let connection: FrameConnection
        /// The client's process and user.
        let peer: LocalSocket.Peer
        /// Whether the connection exceeds the limits, and may only lock vaults, ask for the status
        /// or stop the agent.
        let isReserved: Bool
        /// Whether the client has sent a request.
        var hasAsked = false
        var activity = Activity.none
        var since = Moment.now
    }

    /// A connected client, for use by its own thread.
    struct Member: Sendable {
        /// The client's number; never 0.
        let number: UInt64
        /// Whether the client may only lock vaults, ask for the status or stop the agent.
        var isReserved = false
        /// Whether the connection is still wanted: it was not ended to make room for another.
        var isWanted: @Sendable () -> Bool = { true }
        /// Records the current activity for the client.
        var setActivity: @Sendable (Activity) -> Void = { _ in }
    }

    /// The current activity for a client.
    enum Activity {
        case none
        /// The client's request is being handled.
        case handling
        /// A response is being sent, which the client may not read.
        case sending
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        /// The clients whose threads have not ended.
        var threads: [UInt64: (user: UInt32, isReserved: Bool)] = [:]
        var last: UInt64 = 0

        /// Ends the connection that is needed least.
        ///
        /// A request that was received and must always be answered, such as to lock a vault, is
        /// still answered.
        ///
        /// - Returns: `false` if every client waits for a response.
        mutating func endLeastNeeded(of entries: [UInt64: Entry]) -> Bool {
            guard let number = Connections.leastNeeded(of: entries),
                let entry = self.entries.removeValue(forKey: number)
            else { return false }
            // A response that is not read must not block the thread.
            let isSending = !entry.isReserved && entry.activity == .sending
            entry.connection.shutDown(onlyReading: !isSending)
            return true
        }
    }

    private let state = Mutex(State())

    /// - Parameter limit: the maximum number of clients of all users at a time.
    init(limit: Int) { self.limit = limit }

    /// Adds a client; if there are too many, ends a connection that waits for nothing.
    ///
    /// If a user has too many connections, only that user's connections are considered. The choice
    /// is a connection of the process with the most connections; among several, one that never sent
    /// a request, and then the one that has been silent longest. If all wait for a response, the
    /// new connection is reserved for requests that must always be possible; see
    /// ``isReserved(_:)``. These requests take little time, so a reserved connection may be ended
    /// for another regardless of its activity, again one of the process with the most.
    ///
    /// - Returns: the client's number; `nil` if too many threads of ended connections are still
    ///   running.
    func add(_ connection: FrameConnection, from peer: LocalSocket.Peer) -> UInt64? {
        state.withLock { state in
            let threads = state.threads.values.filter { $0.user == peer.user }
            let reserved = threads.count(where: \.isReserved)
            let ordinary = state.entries.filter { !$0.value.isReserved }
            let own = ordinary.filter { $0.value.peer.user == peer.user }
            let hasTooMany = own.count >= Connections.limitPerUser
            var isReserved = threads.count - reserved >= Connections.threadsPerUser
            if !isReserved, hasTooMany || ordinary.count >= limit {
                isReserved = !state.endLeastNeeded(of: hasTooMany ? own : ordinary)
            }
            if isReserved {
                guard reserved < Connections.limitPerUser else { return nil }
                let others = state.entries.filter(\.value.isReserved)
                let own = others.filter { $0.value.peer.user == peer.user }
                let hasTooMany = own.count >= Connections.reservedPerUser
                if hasTooMany || others.count >= limit / Connections.reservedPerUser {
                    guard state.endLeastNeeded(of: hasTooMany ? own : others) else { return nil }
                }
            }
            state.last += 1
            state.entries[state.last] = Entry(
                connection: connection, peer: peer, isReserved: isReserved)
            state.threads[state.last] = (peer.user, isReserved)
            return state.last
        }
    }

    /// The client with this number.
    func member(_ number: UInt64) -> Member {
        Member(number: number, isReserved: isReserved(number)) {
            self.contains(number)
        } setActivity: {
            self.set(number, $0)
        }
    }

    /// Whether the client is connected, and its connection was not ended.
    func contains(_ number: UInt64) -> Bool {
        state.withLock { $0.entries[number] != nil }
    }

    /// Whether this client may only lock vaults, ask for the status or stop the agent.
    func isReserved(_ number: UInt64) -> Bool {
        state.withLock { $0.entries[number]?.isReserved ?? true }
    }

    /// The connection to end; `nil` if every client waits for a response.
    private static func leastNeeded(of entries: [UInt64: Entry]) -> UInt64? {
        let counts = Dictionary(grouping: entries.values, by: \.peer).mapValues(\.count)
        func rank(_ entry: Entry) -> (Int, Int, Moment)? {
            guard entry.isReserved || entry.activity != .handling else { return nil }
            let isFirst = !entry.isReserved && !entry.hasAsked
            return (-(counts[entry.peer] ?? 0), isFirst ? 0 : 1, entry.since)
        }
        return entries.compactMap { number, entry in rank(entry).map { (number, $0) } }
            .min { $0.1 < $1.1 }?.0
    }

    /// Records the current activity for a client that has sent a request.
    func set(_ number: UInt64, _ activity: Activity) {
        state.withLock { state in
            state.entries[number]?.activity = activity
            state.entries[number]?.since = .now
            state.entries[number]?.hasAsked = true
        }
    }

    /// Waits until no request is being handled or answered, but at most for `timeout`.
    func waitForAnswers(atMost timeout: Duration) throws(SystemCallFailure) {
        let deadline = Moment.now + timeout
        while deadline.timeRemaining > .zero,
            state.withLock({ $0.entries.values.contains { $0.activity != .none } })
        {
            _ = try Polling.wait(for: [], timeout: .milliseconds(10))
        }
    }

    /// Removes a client whose thread ends.
    func remove(_ number: UInt64) {
        state.withLock { state in
            state.entries[number] = nil
            state.threads[number] = nil
        }
    }
}
