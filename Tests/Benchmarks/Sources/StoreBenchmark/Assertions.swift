import JSONReading
import PasskeyVerification
import Verification
import WatchwordCryptography

/// Measures the time of an assertion, from the browser's JSON to the committed decision,
/// alternating between filled stores of different sizes.
///
/// In the first store, the same rounds also measure the parts to which an assertion is compared:
/// the verification of a code, and OpenSSL's signature check alone.
struct Assertions {
    let sizes: [(population: PasskeyPopulation, place: Place)]
    /// Each run has its own epoch, because a code can be spent only once.
    let epoch: Int
    private static let rounds = 30
    private static let slice = 250
    // A prime larger than any count, so its multiples visit every passkey before they repeat.
    private static let stride = 1_299_709
    /// Between two rounds, challenges expire: a passkey is rarely used twice within minutes.
    private static let roundSeconds: Int64 = 660

    /// One assertion that is ready to be presented.
    private struct Prepared {
        let ceremony: Token
        let body: [UInt8]
        let message: [UInt8]
        let signature: [UInt8]
    }

    private struct Series {
        var least = Int64.max
        var times: [Int64] = []

        mutating func add(_ slice: [Int64]) {
            least = min(least, slice.reduce(0, +) / Int64(slice.count))
            times += slice
        }

        func say(_ name: String) {
            StoreBenchmark.say(name, least)
            StoreBenchmark.say("\(name)-p50", times.sorted()[times.count / 2])
        }
    }

    func run() async throws {
        guard let first = sizes.first else { throw BenchmarkError.usage }
        let stores = try sizes.map { try $0.place.open() }
        let codes = Population(count: first.population.count)
        let attempts = Attempts(codes, epoch: epoch)
        let caller = Crowd(1, stores[0], keys: first.place.keys)
        let bare = try BareSignatureCheck(point: first.population.point)
        var assertions = [Series](repeating: Series(), count: sizes.count)
        var (verifications, checks) = (Series(), Series())
        // The first round only warms the caches.
        for round in 0...Self.rounds {
            for (index, (population, place)) in sizes.enumerated() {
                let time = UnixTime(
                    seconds: Population.start + 86_400 * Int64(epoch)
                        + Self.roundSeconds * Int64(round))
                let verifier = Verifier(store: stores[index], keys: place.keys) { time }
                let passkeys = try PasskeyPopulation.passkeys(verifier)
                let prepared = try await prepare(population, passkeys, round)
                let times = try await finish(prepared, passkeys)
                if round > 0 { assertions[index].add(times) }
                guard index == 0 else { continue }
                let decisions = try await caller.decide(try attempts.take(Self.slice))
                let bareTimes = try check(prepared, bare)
                if round > 0 {
                    verifications.add(decisions)
                    checks.add(bareTimes)
                }
            }
        }
        for (size, series) in zip(sizes, assertions) {
            series.say("assertion-\(size.population.count)")
        }
        verifications.say("code")
        checks.say("signature-check")
        for (size, store) in zip(sizes, stores) { try size.place.close(store) }
    }

    /// Begins ceremonies and signs their challenges.
    private func prepare(
        _ population: PasskeyPopulation, _ passkeys: Passkeys, _ round: Int
    ) async throws -> [Prepared] {
        var prepared: [Prepared] = []
        for index in (round * Self.slice)..<((round + 1) * Self.slice) {
            let number = index * Self.stride % population.count
            let ceremony = try await passkeys.beginAuthentication(
                CeremonyRequest(for: try population.subject(number)))
            let challenge = ceremony.options.challenge
            let message = try population.message(challenge)
            prepared.append(
                Prepared(
                    ceremony: ceremony.token, body: try population.signed(number, challenge),
                    message: message, signature: try population.signature(message)))
        }
        return prepared
    }

    /// Returns the time of each assertion in nanoseconds.
    private func finish(_ prepared: [Prepared], _ passkeys: Passkeys) async throws -> [Int64] {
        var times: [Int64] = []
        for one in prepared {
            let start = ContinuousClock.now
            let response = try AssertionResponse.read(try readJSON(one.body.span)).response()
            let outcome = try await passkeys.finishAuthentication(
                SentAssertion(response, for: one.ceremony))
            times.append((ContinuousClock.now - start).nanoseconds)
            guard case .signed(_, []) = outcome.result else { throw BenchmarkError.wrongAnswer }
        }
        return times
    }

    private func check(_ prepared: [Prepared], _ bare: BareSignatureCheck) throws -> [Int64] {
        try prepared.map { one in
            let start = ContinuousClock.now
            let isAccepted = bare.accepts(one.signature, of: one.message)
            let time = (ContinuousClock.now - start).nanoseconds
            guard isAccepted else { throw BenchmarkError.wrongAnswer }
            return time
        }
    }
}
