import Verification

/// Alternates between wrong codes and unknown subjects, whose times must be indistinguishable.
struct Denials {
    /// Why a request is denied.
    enum Kind: String, CaseIterable {
        case wrong, unknown
    }

    private let place: Place
    private let count: Int

    init(_ place: Place, _ count: Int) {
        self.place = place
        self.count = count
    }

    /// Measures `count` denials of each of `kinds`.
    func run(_ kinds: [Kind]) async throws {
        let store = try place.open()
        // Only as many wrong codes per credential as cause no wait: the next wrong code does more
        // work, as it adds the event `locked`.
        let codes = Policy.standard.firstFailureWithWait - 1
        let population = Population(count: (count + codes - 1) / codes)
        try await population.fill(store, keys: place.keys)
        let now = UnixTime(seconds: Population.start + 86_400)
        let verifier = Verifier(store: store, keys: place.keys) { now }
        var times: [Kind: [Int64]] = [:]
        let clock = ContinuousClock()
        for index in 0..<count {
            let number = index % population.count
            // Alternate which kind comes first.
            for kind in index.isMultiple(of: 2) ? kinds : kinds.reversed() {
                let subject: Subject?
                switch kind {
                case .wrong: subject = try population.subject(number)
                case .unknown: subject = Subject("unknown-\(number)")
                }
                guard let subject else { throw BenchmarkError.refused }
                let code = try PresentedCode(wrongCode(number, population, now).utf8.span)
                let start = clock.now
                let outcome = try await verifier.verify(code, subject: subject)
                times[kind, default: []].append((clock.now - start).nanoseconds)
                guard outcome.result == .denied(kind == .wrong ? .wrong : .unknown) else {
                    throw BenchmarkError.wrongAnswer
                }
            }
        }
        Self.say(times)
        try place.close(store)
    }

    /// Prints percentiles of each kind, and how often a wrong code or signature takes longer.
    static func say(_ times: [Kind: [Int64]]) {
        for kind in Kind.allCases where times[kind] != nil {
            let sorted = times[kind, default: []].sorted()
            for percent in [1, 10, 25, 50, 75, 90, 99] {
                StoreBenchmark.say(
                    "denial-\(kind.rawValue)-p\(percent)",
                    sorted[(sorted.count - 1) * percent / 100])
            }
        }
        if let wrong = times[.wrong], let unknown = times[.unknown] {
            print("denial-superiority", superiority(wrong, over: unknown))
        }
    }

    private func wrongCode(_ number: Int, _ population: Population, _ now: UnixTime) -> String {
        let right = (-1...1).map { population.code(number, at: now.seconds + 30 * $0) }
        return (0...3).map { "00000\($0)" }.first { !right.contains($0) } ?? ""
    }

    /// The probability that a value of `left` is larger than a value of `right`; ties count half.
    private static func superiority(_ left: [Int64], over right: [Int64]) -> Double {
        let all = (left.map { ($0, true) } + right.map { ($0, false) }).sorted { $0.0 < $1.0 }
        var rankSum = 0.0
        var start = 0
        while start < all.count {
            var end = start
            while end < all.count, all[end].0 == all[start].0 { end += 1 }
            rankSum += Double(start + end + 1) / 2 * Double(all[start..<end].count { $0.1 })
            start = end
        }
        let count = Double(left.count)
        return (rankSum - count * (count + 1) / 2) / (count * Double(right.count))
    }
}
