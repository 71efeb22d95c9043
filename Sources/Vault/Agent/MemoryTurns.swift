internal import Synchronization
internal import WatchwordSystem

/// Limits how much memory the requests of all users take at the same time.
///
/// Users who have the least memory come first; among them, users whose last turn began longest ago,
/// and then those who have waited longest.
final class MemoryTurns: Sendable {
    fileprivate struct Waiting {
        let number: UInt64
        let user: UInt32
        let size: Int
    }

    fileprivate struct State {
        var waiting: [Waiting] = []
        var last: UInt64 = 0
        /// The memory of each user's turns.
        var turns: [UInt32: Int] = [:]
        var used = 0
        /// When each user's last turn began, in the order of ``last``.
        var served: [UInt32: UInt64] = [:]
    }

    private let total: Int
    private let perUser: Int?
    private let state = Mutex(State())

    /// How often to check whether a turn has come.
    private static let interval = Duration.milliseconds(20)

    /// - Parameters:
    ///   - total: the memory of all turns in bytes; one turn is always granted.
    ///   - perUser: the memory of each user's turns; `nil` if each user has one turn at a time.
    init(total: Int, perUser: Int? = nil) {
        self.total = total
        self.perUser = perUser
    }

    /// Waits until it is the user's turn to take `size` bytes; ``end(of:size:)`` ends the turn.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait.
    ///   - isWanted: whether to continue to wait.
    /// - Returns: whether the turn has come.
    func begin(
        of user: UInt32, size: Int, timeout: Duration, while isWanted: () -> Bool = { true }
    ) throws(SystemCallFailure) -> Bool {
        let deadline = Moment.now + timeout
        let number = state.withLock { state in
            state.last += 1
            state.waiting.append(
                Waiting(number: state.last, user: user, size: fitting(size)))
            return state.last
        }
        defer { state.withLock { $0.waiting.removeAll { $0.number == number } } }
        while true {
            if state.withLock({ $0.admit(number, within: total, perUser) }) { return true }
            guard deadline.timeRemaining > .zero, isWanted() else { return false }
            _ = try Polling.wait(for: [], timeout: MemoryTurns.interval)
        }
    }

    /// Ends a turn of the user that began with this size.
    func end(of user: UInt32, size: Int) {
        let size = fitting(size)
        state.withLock { state in
            state.used -= size
            guard perUser != nil, let left = state.turns[user].map({ $0 - size }), left > 0 else {
                state.turns[user] = nil
                return
            }
            state.turns[user] = left
        }
    }

    /// A turn that is larger than the total gets the total.
    private func fitting(_ size: Int) -> Int { min(size, perUser ?? total, total) }
}

extension MemoryTurns.State {
    /// Begins the turn of a waiting request if it is the first request that can have a turn.
    ///
    /// Small requests do not overtake a large one.
    fileprivate mutating func admit(
        _ number: UInt64, within total: Int, _ perUser: Int?
    ) -> Bool {
        let possible = waiting.filter { waiting in
            guard let taken = turns[waiting.user] else { return true }
            return perUser.map { taken + waiting.size <= $0 } ?? false
        }
        func rank(_ waiting: MemoryTurns.Waiting) -> (Int, UInt64, UInt64) {
            (turns[waiting.user] ?? 0, served[waiting.user] ?? 0, waiting.number)
        }
        let first = possible.min { rank($0) < rank($1) }
        guard let first, first.number == number, used + first.size <= total else { return false }
        turns[first.user, default: 0] += first.size
        used += first.size
        last += 1
        served[first.user] = last
        return true
    }
}
