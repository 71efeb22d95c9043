internal import POSIX
internal import Synchronization

/// The clients that are connected.
final class Connections: Sendable {
    /// The maximum number of clients of one user at a time.
    static let limitPerUser = 64
    /// How many further connections of one user may lock the vault, whatever else is running.
    private static let reservedPerUser = 4
    /// The most threads that serve clients of one user, including those of connections that were ended.
    private static let threadsPerUser = 2 * limitPerUser
    /// The most clients at a time, without those.
    private let limit: Int

    private struct Entry {
        let connection: FrameConnection
        /// The client's process and user.
        let peer: LocalSocket.Peer
        /// Whether it is beyond the limits, and may only lock vaults, ask for the status or stop the
        /// agent.
        let isReserved: Bool
        /// Whether it has sent a request.
        var hasAsked = false
        /// Since when the client has been idle; `nil` while its request is handled.
        var silentSince: Moment?
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        /// The users of all clients whose threads have not ended.
        var users: [UInt64: UInt32] = [:]
        var last: UInt64 = 0

        /// Ends the connection that is needed least.
        ///
        /// - Returns: `false` if every client waits for a response.
        mutating func endLeastNeeded(of entries: [UInt64: Entry]) -> Bool {
            guard let number = Connections.leastNeeded(of: entries) else { return false }
            self.entries.removeValue(forKey: number)?.connection.shutDown()
            return true
        }
    }

    private let state = Mutex(State())

    /// - Parameter limit: the maximum number of clients of all users at a time.
    init(limit: Int) { self.limit = limit }

    /// Adds a client; if there are too many, ends a connection that waits for nothing.
    ///
    /// If a user has too many connections, only that user's are considered. The first choice is one
    /// that never sent a request, the second one of the process with the most connections; among
    /// several, the one that has been silent longest. If all wait for a response, the new one is
    /// reserved for what must always be possible; see ``isReserved(_:)``.
    ///
    /// - Returns: the client's number; `nil` if there are too many even of those, or if too many
    ///   threads of ended connections are still running.
    func add(_ connection: FrameConnection, from peer: LocalSocket.Peer) -> UInt64? {
        state.withLock { state in
            let threads = state.users.values.count { $0 == peer.user }
            guard threads < Connections.threadsPerUser else { return nil }
            let ordinary = state.entries.filter { !$0.value.isReserved }
            let own = ordinary.filter { $0.value.peer.user == peer.user }
            let hasTooMany = own.count >= Connections.limitPerUser
            var isReserved = false
            if hasTooMany || ordinary.count >= limit {
                isReserved = !state.endLeastNeeded(of: hasTooMany ? own : ordinary)
            }
            if isReserved {
                let others = state.entries.filter(\.value.isReserved)
                let own = others.filter { $0.value.peer.user == peer.user }
                let hasTooMany = own.count >= Connections.reservedPerUser
                if hasTooMany || others.count >= limit / Connections.reservedPerUser {
                    guard state.endLeastNeeded(of: hasTooMany ? own : others) else { return nil }
                }
            }
            state.last += 1
            state.entries[state.last] = Entry(
                connection: connection, peer: peer, isReserved: isReserved, silentSince: .now)
            state.users[state.last] = peer.user
            return state.last
        }
    }

    /// Whether the client's connection has not been ended.
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
            entry.silentSince.map { since in
                (entry.hasAsked ? 1 : 0, -(counts[entry.peer] ?? 0), since)
            }
        }
        return entries.compactMap { number, entry in rank(entry).map { (number, $0) } }
            .min { $0.1 < $1.1 }?.0
    }

    /// Records whether a client's request is being handled.
    func set(_ number: UInt64, isServed: Bool) {
        state.withLock { state in
            state.entries[number]?.silentSince = isServed ? nil : .now
            state.entries[number]?.hasAsked = true
        }
    }

    /// Waits until no request is handled, but no longer than `timeout`.
    func waitForAnswers(atMost timeout: Duration) throws(SystemCallFailure) {
        let deadline = Moment.now + timeout
        while deadline.timeRemaining > .zero,
            state.withLock({ $0.entries.values.contains { $0.silentSince == nil } })
        {
            _ = try Polling.wait(for: [], timeout: .milliseconds(10))
        }
    }

    /// Forgets a client whose thread ends.
    func remove(_ number: UInt64) {
        state.withLock { state in
            state.entries[number] = nil
            state.users[number] = nil
        }
    }
}
