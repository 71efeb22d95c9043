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

    func run(seconds: Int) async throws {
        if try store.credential(.sample(0)) == nil {
            for number in 0..<Self.rows {
                _ = try await store.commit([.insertCredential(.sample(number))])
            }
        }
        for isWhole in [false, true] {
            for callers in [1, 8, 32] {
                var (bare, shared) = (0.0, 0.0)
                for _ in 0..<3 {
                    bare = max(bare, bareRate(seconds))
                    shared = max(shared, try await rate(callers, seconds, isWhole))
                }
                let ratio = (shared / bare * 100).rounded() / 100
                StoreWriter.say(
                    "\(isWhole ? "update and event" : "update"), \(callers) callers: "
                        + "\(Int(shared))/s, bare loop \(Int(bare))/s, \(ratio) times")
            }
        }
    }

    private func bareRate(_ seconds: Int) -> Double {
        guard let loop = BareLoop(path: path) else { return .nan }
        let body = sampleBytes(0, count: 200)
        return rate(seconds) { done in
            loop.step(.sample(done % Self.rows), body: body)
        }
    }

    private func rate(_ seconds: Int, _ body: (Int) -> Bool) -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        var done = 0
        while clock.now - start < .seconds(seconds), body(done) { done += 1 }
        return Double(done) / ((clock.now - start) / .seconds(1))
    }

    /// Each caller works on rows of its own, as logins of different people do.
    private func rate(_ callers: Int, _ seconds: Int, _ isWhole: Bool) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var done = 0
                    while clock.now - start < .seconds(seconds) {
                        let number = (caller + done * callers) % Self.rows
                        if try await decide(number, isWhole) { done += 1 }
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
