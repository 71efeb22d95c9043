internal import POSIX
internal import Synchronization

/// The clients that are connected.
final class Connections: Sendable {
    /// The most clients at a time.
    static let limit = 64

    private struct Entry {
        let connection: FrameConnection
        /// Since when it has sent no request; `nil` while it waits for the response.
        var silentSince: Moment?
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Adds a client; if there are too many, ends the connection that has been silent longest.
    ///
    /// - Returns: the client's number; `nil` if every other client waits for a response.
    func add(_ connection: FrameConnection) -> UInt64? {
        state.withLock { state in
            if state.entries.count >= Connections.limit {
                let silent = state.entries.filter { $0.value.silentSince != nil }
                let longest = silent.min { left, right in
                    guard let left = left.value.silentSince, let right = right.value.silentSince
                    else { return false }
                    return left < right
                }
                guard let longest else { return nil }
                longest.value.connection.shutDown()
                state.entries[longest.key] = nil
            }
            state.last += 1
            state.entries[state.last] = Entry(connection: connection, silentSince: .now)
            return state.last
        }
    }

    /// Records whether a client's request is being handled.
    func set(_ number: UInt64, isServed: Bool) {
        state.withLock { $0.entries[number]?.silentSince = isServed ? nil : .now }
    }

    func remove(_ number: UInt64) {
        state.withLock { $0.entries[number] = nil }
    }
}
