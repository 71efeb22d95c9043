import Verification

/// Measures the time of a decision with one caller and with many, alternating between filled stores
/// of different sizes.
struct Scale {
    let sizes: [(population: Population, place: Place)]
    /// Each run has its own epoch, because a code can be spent only once.
    let epoch: Int
    // Long enough that each slice includes a checkpoint of SQLite's log, but short enough that some
    // slices are undisturbed.
    private static let slices = [(callers: 1, decisions: 1_500), (32, 6_000)]
    private static let rounds = 12

    /// One kind of slice in one store, and its results.
    private struct Series {
        let name: String
        let population: Int
        let crowd: Crowd
        let attempts: Attempts
        let decisions: Int
        var least = Int64.max
        var times: [Int64] = []

        /// Runs one slice.
        ///
        /// The first slice only warms the caches and does not count. No credential is used by two
        /// callers at once: a delayed caller's code would be too old.
        mutating func run(counting: Bool) async throws {
            var taken = try attempts.take(decisions)[...]
            var spent = Duration.zero
            while !taken.isEmpty {
                let some = Array(taken.prefix(population))
                taken = taken.dropFirst(population)
                let start = ContinuousClock.now
                let times = try await crowd.decide(some)
                spent += .now - start
                if counting { self.times += times }
            }
            if counting { least = min(least, spent.nanoseconds / Int64(decisions)) }
        }
    }

    func run() async throws {
        let stores = try sizes.map { try $0.place.open() }
        var series: [Series] = []
        for ((population, place), store) in zip(sizes, stores) {
            let attempts = Attempts(population, epoch: epoch)
            for (callers, decisions) in Self.slices {
                series.append(
                    Series(
                        name: "scale-\(population.count)-\(callers)",
                        population: population.count,
                        crowd: Crowd(callers, store, keys: place.keys),
                        attempts: attempts, decisions: decisions))
            }
        }
        for round in 0...Self.rounds {
            for index in series.indices { try await series[index].run(counting: round > 0) }
        }
        for one in series {
            StoreBenchmark.say(one.name, one.least)
            let sorted = one.times.sorted()
            for (part, label) in [(0.5, "p50"), (0.99, "p99"), (0.999, "p999")] {
                let index = Int(Double(sorted.count - 1) * part)
                StoreBenchmark.say("\(one.name)-\(label)", sorted[index])
            }
        }
        for (size, store) in zip(sizes, stores) { try size.place.close(store) }
    }
}
