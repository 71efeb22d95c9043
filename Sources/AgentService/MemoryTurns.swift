internal import POSIX
internal import Synchronization

/// Limits how much memory the requests of all users take at the same time.
///
/// Each user has one turn at a time, and those who have waited longest come first.
final class MemoryTurns: Sendable {
    fileprivate struct Waiting {
        let number: UInt64
        let user: UInt32
        let size: Int
    }

    fileprivate struct State {
        var waiting: [Waiting] = []
        var last: UInt64 = 0
        /// The memory of each turn, by user.
        var turns: [UInt32: Int] = [:]
        var used = 0
    }

    private let total: Int
    private let state = Mutex(State())

    /// How often to look whether a turn has come.
    private static let interval = Duration.milliseconds(20)

    /// - Parameter total: the memory of all turns in bytes; one turn is given out in any case.
    init(total: Int) { self.total = total }

    /// Waits until it is the user's turn to take `size` bytes; ``end(of:)`` ends the turn.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait.
    ///   - isWanted: whether to go on waiting.
    /// - Returns: whether the turn has come.
    func begin(
        of user: UInt32, size: Int, timeout: Duration, while isWanted: () -> Bool = { true }
    ) throws(SystemCallFailure) -> Bool {
        let deadline = Moment.now + timeout
        let number = state.withLock { state in
            state.last += 1
            state.waiting.append(
                Waiting(number: state.last, user: user, size: min(size, total)))
            return state.last
        }
        defer { state.withLock { $0.waiting.removeAll { $0.number == number } } }
        while true {
            if state.withLock({ $0.admit(number, within: total) }) { return true }
            guard deadline.timeRemaining > .zero, isWanted() else { return false }
            _ = try Polling.wait(for: [], timeout: MemoryTurns.interval)
        }
    }

    /// Ends the user's turn.
    func end(of user: UInt32) {
        state.withLock { state in
            state.used -= state.turns.removeValue(forKey: user) ?? 0
        }
    }
}

extension MemoryTurns.State {
    /// Begins the turn of a waiting request if it is the first that can have one.
    ///
    /// A large request is not overtaken by small ones.
    fileprivate mutating func admit(_ number: UInt64, within total: Int) -> Bool {
        guard let first = waiting.first(where: { turns[$0.user] == nil }),
            first.number == number, used + first.size <= total
        else { return false }
        turns[first.user] = first.size
        used += first.size
        return true
    }
}
