import Foundation
import SQLiteStore
import Verification

/// Alternates between correct codes from one caller, correct codes from many callers, and a bare
/// loop of the same update.
struct Decisions {
    private let place: Place
    private let rounds: Int
    private static let rows = 1_000
    // Short, so that some of them are undisturbed.
    private static let slice = 20
    private static let settling = 10

    init(_ place: Place, _ rounds: Int) {
        self.place = place
        self.rounds = rounds
    }

    func run() async throws {
        let store = try place.openFile()
        // One half of the rows for the verifiers, the other half for the loop.
        let population = Population(count: Self.rows)
        let everybody = Population(count: 2 * Self.rows)
        try await everybody.fill(store, keys: place.keys)
        let verified = Set(try (0..<Self.rows).map { try population.subject($0) })
        let rows = try store.credentials(.under(nil, after: nil), limit: 2 * Self.rows)
            .filter { !verified.contains($0.subject) }
        guard rows.count == Self.rows, let bare = BareLoop(path: place.address, rows: rows) else {
            throw BenchmarkError.refused
        }
        let attempts = Attempts(population)
        var best: [String: Int64] = [:]
        func note(_ name: String, _ nanoseconds: Int64) {
            best[name] = min(best[name] ?? .max, nanoseconds)
        }
        let clock = ContinuousClock()
        for round in 0..<rounds {
            let start = clock.now
            for number in 0..<Self.slice {
                guard bare.step(round * Self.slice + number) else { throw BenchmarkError.refused }
            }
            note("sqlite-bare", (clock.now - start).nanoseconds / Int64(Self.slice))
            for (callers, share) in [(1, 1), (32, 16)] {
                let crowd = Crowd(callers, store, keys: place.keys)
                // After many callers, the store needs a few decisions to notice that a caller is
                // alone.
                _ = try await crowd.decide(try attempts.take(Self.settling))
                let taken = try attempts.take(Self.slice * share)
                let (start, used) = (clock.now, processorTime())
                _ = try await crowd.decide(taken)
                let count = Int64(taken.count)
                note("sqlite-\(callers)", (clock.now - start).nanoseconds / count)
                note("sqlite-\(callers)-processor", (processorTime() - used) / count)
            }
        }
        for (name, nanoseconds) in best.sorted(by: { $0.key < $1.key }) {
            StoreBenchmark.say(name, nanoseconds)
        }
        store.close()
    }
}

/// Processor time of this process, in nanoseconds.
private func processorTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
