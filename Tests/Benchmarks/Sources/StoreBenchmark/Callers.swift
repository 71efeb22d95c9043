import Verification

/// Verifies correct codes with 1, 8, 32 and 128 callers, in a store that `fill` has filled.
struct Callers {
    let place: Place
    let population: Population
    /// Each run has its own epoch, because a code can be spent only once.
    let epoch: Int
    private static let rounds = 12
    private static let slice = 100

    func run() async throws {
        let store = try place.open()
        let attempts = Attempts(population, epoch: epoch)
        let crowds = [1, 8, 32, 128].map { ($0, Crowd($0, store, keys: place.keys)) }
        var best: [Int: Int64] = [:]
        let clock = ContinuousClock()
        for _ in 0..<Self.rounds {
            for (callers, crowd) in crowds {
                let taken = try attempts.take(Self.slice * min(callers, 10))
                let start = clock.now
                _ = try await crowd.decide(taken)
                let each = (clock.now - start).nanoseconds / Int64(taken.count)
                best[callers] = min(best[callers] ?? .max, each)
            }
        }
        for (callers, nanoseconds) in best.sorted(by: { $0.key < $1.key }) {
            StoreBenchmark.say("callers-\(callers)", nanoseconds)
        }
        try place.close(store)
    }
}
