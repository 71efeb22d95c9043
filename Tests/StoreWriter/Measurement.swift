import SQLiteStore
import StoreContract
import Verification

/// Decisions a second by 1, 8 and 32 callers, beside a bare loop of the same update.
///
/// Rounds of both take turns, so that a disk that gets slower is slow for both.
struct Measurement {
    let store: SQLiteStore
    let path: String
    static let rows = 1_000

    private static let slice = Duration.milliseconds(100)

    /// Prints the best of so many short rounds; bare loop and store take turns.
    func run(rounds: Int) async throws {
        if try store.credential(.sample(0)) == nil {
            for number in 0..<Self.rows {
                _ = try await store.commit([.insertCredential(.sample(number))])
            }
        }
        guard let loop = BareLoop(path: path) else { return }
        let body = sampleBytes(0, count: 200)
        for isWhole in [false, true] {
            for callers in [1, 8, 32] {
                var (bare, shared) = (0.0, 0.0)
                for _ in 0..<rounds {
                    let alone = try await rate(of: 1) { number in
                        loop.step(.sample(number), body: body)
                    }
                    bare = max(bare, alone)
                    let together = try await rate(of: callers) { number in
                        try await decide(number, isWhole)
                    }
                    shared = max(shared, together)
                }
                let ratio = (shared / bare * 100).rounded() / 100
                StoreWriter.say(
                    "\(isWhole ? "update and event" : "update"), \(callers) callers: "
                        + "\(Int(shared))/s, bare loop \(Int(bare))/s, \(ratio) times")
            }
        }
    }

    /// How often a second so many callers get `body` done, each on rows of its own.
    private func rate(
        of callers: Int, _ body: @escaping @Sendable (Int) async throws -> Bool
    ) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var done = 0
                    while clock.now - start < Self.slice {
                        let number = (caller + done * callers) % Self.rows
                        if try await body(number) { done += 1 }
                    }
                    return done
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(done) / ((clock.now - start) / .seconds(1))
    }

    private func decide(_ number: Int, _ isWhole: Bool) async throws -> Bool {
        guard let row = try store.credential(.sample(number)) else { return false }
        var changes = [StoreChange.updateCredential(row.next(body: row.body))]
        if isWhole { changes.append(.appendEvent(.sample(number))) }
        return try await store.commit(changes) == .done
    }
}
