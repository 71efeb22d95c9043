internal import POSIX
internal import Synchronization

/// The clients that are connected.
final class Connections: Sendable {
    /// The maximum number of clients of one user at a time.
    static let limitPerUser = 64
    /// The most clients at a time.
    private let limit: Int

    private struct Entry {
        let connection: FrameConnection
        /// The client's process and user.
        let peer: LocalSocket.Peer
        /// Whether it has sent a request.
        var hasAsked = false
        /// Since when the client has been idle; `nil` while its request is handled.
        var silentSince: Moment?
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// - Parameter limit: the maximum number of clients of all users at a time.
    init(limit: Int) { self.limit = limit }

    /// Adds a client; if there are too many, ends a connection that waits for nothing.
    ///
    /// If a user has too many connections, only that user's are considered. The first choice is one
    /// that never sent a request, the second one of the process with the most connections; among
    /// several, the one that has been silent longest.
    ///
    /// - Returns: the client's number; `nil` if every other client waits for a response.
    func add(_ connection: FrameConnection, from peer: LocalSocket.Peer) -> UInt64? {
        state.withLock { state in
            let own = state.entries.filter { $0.value.peer.user == peer.user }
            let hasTooMany = own.count >= Connections.limitPerUser
            if hasTooMany || state.entries.count >= limit {
                let others = hasTooMany ? own : state.entries
                guard let number = Connections.leastNeeded(of: others) else { return nil }
                state.entries[number]?.connection.shutDown()
                state.entries[number] = nil
            }
            state.last += 1
            state.entries[state.last] = Entry(
                connection: connection, peer: peer, silentSince: .now)
            return state.last
        }
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

    func remove(_ number: UInt64) {
        state.withLock { $0.entries[number] = nil }
    }
}
