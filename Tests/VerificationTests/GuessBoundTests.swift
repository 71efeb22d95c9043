import TestSupport
import Testing

@testable import Verification

/// The bound on guesses within a year, and the reports of slow guessing.
@Suite("Guess bound")
struct GuessBoundTests {
    private static let year: Int64 = 365 * 86_400_000

    @Test("a policy permits the bounds that every kind of credential can satisfy")
    func range() throws {
        func policy(_ percentage: String) throws -> Policy {
            let bound = try #require(GuessBound(percentage: percentage))
            return try Policy(guessBound: bound)
        }
        let smallest = Policy.standard.smallestGuessBound
        #expect(try policy(smallest.percentage).guessBound == smallest)
        let smaller = try #require(GuessBound(millionths: smallest.millionths - 1))
        #expect(throws: VerifierError.outOfRange(.guessBound)) { try Policy(guessBound: smaller) }
        // A credential with 11 valid codes is disabled by one failure more than the failures that
        // cause a wait.
        let fewest = GuessLimits(try Policy(guessBound: smallest), codes: 11, digits: 6)
        #expect(fewest.disablingFailures == Policy.failuresUntilWait + 1)
        #expect(try Policy(firstFailureWithWait: 5).smallestGuessBound.percentage == "0.0133%")
        #expect(try policy("100%").guessBound?.millionths == 1_000_000)
        for text in ["1", "%", "0%", "100.1%", "1.%", ".5%", "1.00001%", "+1%", "1 %", "1,5%", ""] {
            #expect(GuessBound(percentage: text) == nil, "\(text)")
        }
        #expect(GuessLimits(try policy("1%"), codes: 3, digits: 6).disablingFailures == 100)
        // With fewer than 200 guesses a year, half of them disable the credential.
        let narrow = GuessLimits(try policy("0.1%"), codes: 11, digits: 6)
        #expect(narrow.disablingFailures == 45)
        #expect(GuessLimits(.standard, codes: 11, digits: 6) == GuessLimits(.standard))
    }

    /// Presents random codes and logins, and returns the times of the guesses.
    ///
    /// - Parameters:
    ///   - unlocks: whether an administrator ends each wait.
    ///   - isCareful: whether no failure disables the credential.
    private func guesses(
        _ limits: GuessLimits, using random: inout SeededGenerator, unlocks: Bool,
        isCareful: Bool
    ) -> [Int64] {
        var throttle = Throttle()
        var now: Int64 = 0
        var made: [Int64] = []
        // Bursts of guesses and logins, and long pauses, in changing proportions.
        var (logins, pauses) = (50, 10)
        while now < 3 * Self.year {
            if Int.random(in: 0..<200, using: &random) == 0 {
                logins = Int.random(in: 1..<99, using: &random)
                pauses = Int.random(in: 0..<60, using: &random)
            }
            let isLong = Int.random(in: 0..<100, using: &random) < pauses
            now += Int64.random(
                in: 0...(isLong ? 30 * 86_400_000 : 3_600_000), using: &random)
            let time = UnixTime(milliseconds: now)
            if unlocks { throttle.endWait() }
            let isKnown = Bool.random(using: &random)
            guard isKnown || throttle.remainingWait(at: time) == nil else { continue }
            // A careful attacker waits for a login before the last permitted failure.
            let isLast = isCareful && throttle.failures >= limits.disablingFailures - 1
            if isLast || Int.random(in: 0..<100, using: &random) < logins {
                throttle.succeed(at: time, limits: limits, byKnownDevice: isKnown)
            } else {
                made.append(now)
                let consequence = throttle.fail(at: time, limits: limits, byKnownDevice: isKnown)
                if consequence == .disabled { break }
            }
        }
        return made
    }

    /// The largest number of guesses within a year.
    private func most(_ times: [Int64]) -> Int {
        var first = 0
        var most = 0
        for (last, time) in times.enumerated() {
            while time - times[first] >= Self.year { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    @Test("N-11 V-01 with a bound, no schedule of guesses and logins exceeds it in any year")
    func bound() throws {
        var random = SeededGenerator(seed: 26)
        let smallest = Policy.standard.smallestGuessBound.millionths
        var closest = 0.0
        for round in 0..<200 {
            let millionths = Int64.random(in: smallest...2_000, using: &random)
            let codes = [1, 2, 3, 11].randomElement(using: &random) ?? 1
            let bound = try #require(GuessBound(millionths: millionths))
            let limits = GuessLimits(try Policy(guessBound: bound), codes: codes, digits: 6)
            let permitted = Int(GuessLimits.guesses(bound, codes: codes, digits: 6))
            let times = guesses(
                limits, using: &random, unlocks: round % 2 == 0, isCareful: round % 4 < 3)
            #expect(most(times) <= permitted, "round \(round)")
            closest = max(closest, Double(most(times)) / Double(permitted))
        }
        #expect(closest > 0.9, "the schedules come near the bound: \(closest)")
    }

    @Test("with a bound, an attacker who saves up failures and logins gets no more guesses")
    func patient() throws {
        let bound = try #require(GuessBound(millionths: 10_000))
        let limits = GuessLimits(try Policy(guessBound: bound), codes: 11, digits: 6)
        var throttle = Throttle()
        var made: [Int64] = []
        var now: Int64 = 0
        func time() -> UnixTime { UnixTime(milliseconds: now) }
        func guess() {
            throttle.endWait()
            made.append(now)
            #expect(throttle.fail(at: time(), limits: limits) != .disabled)
        }
        guess()
        now = 10 * Self.year
        for _ in 0..<98 { guess() }
        while now < 11 * Self.year - 1 {
            throttle.succeed(at: time(), limits: limits)
            while throttle.failures < limits.disablingFailures - 1 { guess() }
            now += 60_000
        }
        let permitted = Int(GuessLimits.guesses(bound, codes: 11, digits: 6))
        #expect(permitted - 2...permitted ~= most(made), "\(most(made)) of \(permitted)")
    }

    @Test("with a bound, wrong codes do not disable the credential of a known device")
    func attack() throws {
        let cases: [(Int64, Int)] = [(10_000, 3), (10_000, 11), (1_000, 3), (1_000, 11)]
        for (millionths, codes) in cases {
            let bound = try #require(GuessBound(millionths: millionths))
            let limits = GuessLimits(try Policy(guessBound: bound), codes: codes, digits: 6)
            var throttle = Throttle()
            var now: Int64 = 0
            for day in 1...400 as ClosedRange<Int64> {
                while now < day * 86_400_000 {
                    let time = UnixTime(milliseconds: now)
                    if throttle.remainingWait(at: time) == nil {
                        let consequence = throttle.fail(at: time, limits: limits)
                        try #require(consequence != .disabled, "day \(day)")
                    }
                    let wait = throttle.remainingWait(at: time) ?? 0
                    now = min(now + wait, day * 86_400_000)
                }
                if day % 3 == 0 {
                    throttle.succeed(
                        at: UnixTime(milliseconds: now), limits: limits, byKnownDevice: true)
                }
            }
        }
    }

    @Test("with a bound, failures that a success does not forgive keep their wait and count")
    func unforgiven() async throws {
        let bound = try #require(GuessBound(percentage: "1%"))
        let fixture = try VerifierFixture(policy: try Policy(guessBound: bound))
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        try await fixture.fail(Policy.failuresUntilWait - 1, authenticator)
        // A success forgives one failure in 2.7 hours.
        fixture.clock.advance(seconds: 3_600)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).acceptance != nil)
        #expect(
            try await fixture.summary(authenticator.credential).failures == Policy.standard
                .firstFailureWithWait - 1)
        try await fixture.fail(1, authenticator)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now, steps: 1)).denial
                == .throttled(retryAfter: Policy.firstWait))
        fixture.clock.advance(seconds: 2 * 86_400)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).acceptance != nil)
        #expect(try await fixture.summary(authenticator.credential).failures == 0)
    }

    @Test("a clock that was ahead for a while does not keep failures from being forgiven")
    func clockAhead() throws {
        let bound = try #require(GuessBound(percentage: "1%"))
        let limits = GuessLimits(try Policy(guessBound: bound), codes: 3, digits: 6)
        var throttle = Throttle()
        _ = throttle.fail(at: UnixTime(milliseconds: 5 * Self.year), limits: limits)
        _ = throttle.fail(at: UnixTime(milliseconds: 0), limits: limits)
        throttle.succeed(at: UnixTime(milliseconds: limits.interval), limits: limits)
        #expect(throttle.failures == 1)
        throttle.succeed(at: UnixTime(milliseconds: 2 * limits.interval), limits: limits)
        #expect(throttle.failures == 0 && throttle.level == 0)
    }

    @Test("V-05 ten wrong codes within a day are reported once, regardless of successes in between")
    func slowGuessing() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        for hour in 1...48 {
            fixture.clock.advance(seconds: 3_600)
            let wrong = try authenticator.wrongCode(at: fixture.clock.now)
            #expect(try await fixture.verify(wrong).denial == .wrong)
            let reported = fixture.verifier.eventCounts[.guessing, default: 0]
            #expect(reported == (hour < 10 ? 0 : hour < 34 ? 1 : 2), "hour \(hour)")
            let code = try authenticator.code(at: fixture.clock.now)
            #expect(try await fixture.verify(code).acceptance != nil)
        }
        let events = try await fixture.events().filter { $0.kind == .guessing }
        #expect(events.count == 2 && events.allSatisfy { $0.isNotification })
        #expect(events.map(\.number) == [10, 10])
        #expect(events.map(\.credential) == [authenticator.credential, authenticator.credential])
        #expect(try await fixture.count(.locked) == 0)
    }
}
