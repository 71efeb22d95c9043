import Synchronization
import Verification

/// Calls a verifier that has its own clock.
final class Caller: Sendable {
    private let verifier: Verifier
    private let clock: Clock

    private final class Clock: Sendable {
        let milliseconds = Atomic<Int64>(0)
    }

    init(_ store: any VerificationStore, keys: KeyRing) {
        let clock = Clock()
        self.clock = clock
        verifier = Verifier(store: store, keys: keys) {
            UnixTime(milliseconds: clock.milliseconds.load(ordering: .relaxed))
        }
    }

    /// Makes a decision, which must be an acceptance.
    func decide(_ attempt: Attempts.Attempt) async throws {
        clock.milliseconds.store(attempt.time.milliseconds, ordering: .relaxed)
        let outcome = try await verifier.verify(attempt.code, subject: attempt.subject)
        guard case .accepted = outcome.result else { throw BenchmarkError.wrongAnswer }
    }
}

/// Several concurrent callers, and the time of each decision.
struct Crowd: Sendable {
    private let callers: [Caller]

    init(_ count: Int, _ store: any VerificationStore, keys: KeyRing) {
        callers = (0..<count).map { _ in Caller(store, keys: keys) }
    }

    /// Makes all decisions, and returns the time of each in nanoseconds.
    func decide(_ attempts: [Attempts.Attempt]) async throws -> [Int64] {
        let next = Turn()
        let clock = ContinuousClock()
        return try await withThrowingTaskGroup(of: [Int64].self) { group in
            for caller in callers {
                group.addTask {
                    var times: [Int64] = []
                    while true {
                        let index = next.take(1)
                        guard index < attempts.count else { return times }
                        let start = clock.now
                        try await caller.decide(attempts[index])
                        times.append((clock.now - start).nanoseconds)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}

extension Duration {
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}

/// Hands out consecutive numbers.
final class Turn: Sendable {
    private let next = Atomic<Int>(0)

    /// Takes the next `count` numbers, and returns the first.
    func take(_ count: Int) -> Int { next.add(count, ordering: .relaxed).oldValue }
}
