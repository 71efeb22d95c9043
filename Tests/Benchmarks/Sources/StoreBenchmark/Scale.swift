import Verification

/// Stores of different sizes, which take turns: how long a decision takes in each.
struct Scale {
    private let smallest: Int
    private let places: [Place]
    private static let rounds = 12
    private static let callers = 32
    private static let slice = 1_000

    init(_ smallest: Int, _ places: [Place]) {
        self.smallest = smallest
        self.places = places
    }

    func run() async throws {
        var sizes:
            [(count: Int, attempts: Attempts, store: any VerificationStore, crowds: [Crowd])] = []
        for (index, place) in places.enumerated() {
            let count = smallest * [1, 100, 1_000][index]
            let store = try place.open()
            let population = Population(count: count)
            try await population.fill(store, keys: place.keys)
            sizes.append(
                (
                    count, Attempts(population), store,
                    [1, Self.callers].map { Crowd($0, store, keys: place.keys) }
                ))
        }
        var times: [String: [Int64]] = [:]
        var best: [String: Int64] = [:]
        let clock = ContinuousClock()
        for _ in 0..<Self.rounds {
            for size in sizes {
                for (callers, crowd) in zip([1, Self.callers], size.crowds) {
                    let taken = try size.attempts.take(callers == 1 ? Self.slice / 5 : Self.slice)
                    let start = clock.now
                    let latencies = try await crowd.decide(taken)
                    let name = "scale-\(size.count)-\(callers)"
                    let each = (clock.now - start).nanoseconds / Int64(taken.count)
                    best[name] = min(best[name] ?? .max, each)
                    times[name, default: []] += latencies
                }
            }
        }
        for (name, all) in times.sorted(by: { $0.key < $1.key }) {
            let sorted = all.sorted()
            StoreBenchmark.say(name, best[name] ?? 0)
            for (part, label) in [(0.5, "p50"), (0.99, "p99"), (0.999, "p999")] {
                StoreBenchmark.say("\(name)-\(label)", sorted[Int(Double(sorted.count - 1) * part)])
            }
        }
        for (place, size) in zip(places, sizes) { try place.close(size.store) }
    }
}
