import OneTimePassword
import TestSupport
import Testing
@testable import Verification
import WatchwordCryptography

@Suite("Time windows")
struct WindowTests {
    private func fixture(_ profile: WindowProfile, at seconds: Int64 = VerifierFixture.start) throws
        -> VerifierFixture
    {
        try VerifierFixture(policy: Policy(profile: profile), at: seconds)
    }

    @Test(
        "T-08 T-11 N-10 each profile accepts codes up to the ends of its window, and no codes beyond",
        arguments: WindowProfile.allCases)
    func ends(profile: WindowProfile) async throws {
        for steps in -3...3 {
            let fixture = try fixture(profile)
            let authenticator = try await fixture.enrolled()
            // The time is far from the confirmation, which spent its own step and all earlier ones.
            fixture.clock.advance(seconds: 3_000)
            let outcome = try await fixture.verify(
                authenticator.code(at: fixture.clock.now, steps: steps))
            if (-profile.behind...profile.ahead).contains(steps) {
                #expect(outcome.acceptance?.offset == Int64(steps), "\(steps) steps")
            } else {
                #expect(outcome.denial == .wrong, "\(steps) steps")
            }
        }
    }

    @Test("V-13 in the strict profile a code is valid only during its own step")
    func strictStep() async throws {
        let fixture = try fixture(.strict)
        let authenticator = try await fixture.enrolled()
        fixture.clock.now = UnixTime(
            seconds: VerifierFixture.start - VerifierFixture.start % 30 + 300)
        let code = try authenticator.code(at: fixture.clock.now)
        fixture.clock.now = fixture.clock.now.adding(milliseconds: 29_999)
        #expect(try await fixture.verify(code).acceptance != nil)
        let next = try authenticator.code(at: fixture.clock.now, steps: 1)
        fixture.clock.now = fixture.clock.now.adding(milliseconds: 30_001)
        #expect(try await fixture.verify(next).denial == .wrong)
    }

    @Test("T-10 N-07 V-09 a spent code is refused until the end of its window")
    func spent() async throws {
        let fixture = try fixture(.wide)
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code).acceptance?.offset == 0)
        for _ in 0..<4 {
            #expect(try await fixture.verify(code).acceptance == nil)
            fixture.clock.advance(seconds: 15)
        }
    }

    @Test("T-10 the codes of all steps before a spent step are refused")
    func stepsBefore() async throws {
        let fixture = try fixture(.wide)
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let before = try authenticator.code(at: fixture.clock.now)
        let ahead = try authenticator.code(at: fixture.clock.now, steps: 1)
        #expect(try await fixture.verify(ahead).acceptance?.offset == 1)
        #expect(try await fixture.verify(before).denial == .replayed)
    }

    @Test("T-10 the code that confirmed the enrolment is not accepted for a login")
    func confirmationCode() async throws {
        let fixture = try fixture(.wide)
        let authenticator = try await fixture.enrolled()
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).denial == .replayed)
    }

    @Test("T-10 accepting a code spends every step of the window with the same code")
    func equalCodes() async throws {
        let pair = try EqualCodes.known()
        let fixture = try VerifierFixture(at: Int64(pair.step) * 30 - 3_000)
        let authenticator = try await fixture.enrol(key: pair.key)
        let first = try await fixture.verifier.confirm(
            authenticator.credential, code: authenticator.code(at: fixture.clock.now))
        #expect(first.acceptance != nil)
        fixture.clock.now = UnixTime(seconds: Int64(pair.step) * 30)
        let code = try authenticator.code(pair.step)
        #expect(try await fixture.verify(code).acceptance?.offset == 0)
        // The first of the two steps has left the window, and the second step is at its end.
        fixture.clock.advance(seconds: 60)
        #expect(try await fixture.verify(code).denial == .replayed)
    }

    @Test("T-10 a replay also spends a later step with the same code")
    func replayOfEqualCodes() async throws {
        let pair = try EqualCodes.known()
        let fixture = try VerifierFixture(
            policy: Policy(profile: .rfc), at: Int64(pair.step) * 30 - 3_000)
        let authenticator = try await fixture.enrol(key: pair.key)
        _ = try await fixture.verifier.confirm(
            authenticator.credential, code: authenticator.code(at: fixture.clock.now))
        fixture.clock.now = UnixTime(seconds: Int64(pair.step) * 30)
        let code = try authenticator.code(pair.step)
        // This profile does not look ahead, so only the first of the two steps is spent now.
        #expect(try await fixture.verify(code).acceptance?.offset == 0)
        fixture.clock.advance(seconds: 30)
        #expect(try await fixture.verify(code).denial == .replayed)
        fixture.clock.advance(seconds: 30)
        #expect(try await fixture.verify(code).denial == .replayed)
    }

    @Test("a code that matches two credentials counts as a use of only one of them")
    func sharedCode() async throws {
        let fixture = try fixture(.wide)
        // A search found the second key: both keys have the same code 300 s after the start.
        let keys = ["a key of twenty byte", "another key 00716877"]
        var credentials: [TestAuthenticator] = []
        for key in keys {
            credentials.append(try await fixture.enrolled(key: SecretBytes(text: key)))
        }
        fixture.clock.advance(seconds: 300)
        let now = fixture.clock.now
        let codes = try credentials.map { try $0.code(at: now) }
        let outcome = try await fixture.verify(codes[0])
        #expect(outcome.acceptance != nil)
        var used = 0
        for authenticator in credentials {
            if try await fixture.summary(authenticator.credential).lastUsedAt == now { used += 1 }
        }
        #expect(used == 1)
        // The code is spent for both credentials.
        #expect(try await fixture.verify(codes[1]).denial == .replayed)
    }

    @Test("T-12 a clock that drifts by one step a day is tracked up to 20 steps either way")
    func drift() async throws {
        let fixture = try fixture(.wide)
        let authenticator = try await fixture.enrolled()
        for steps in 1...20 {
            fixture.clock.advance(seconds: 86_400)
            let outcome = try await fixture.verify(
                authenticator.code(at: fixture.clock.now, steps: steps))
            #expect(outcome.acceptance?.offset == 1, "\(steps) steps ahead")
        }
        for steps in stride(from: 19, through: -20, by: -1) {
            fixture.clock.advance(seconds: 86_400)
            let outcome = try await fixture.verify(
                authenticator.code(at: fixture.clock.now, steps: steps))
            #expect(outcome.acceptance?.offset == -1, "\(steps) steps ahead")
        }
    }

    @Test("T-12 an authenticator that is 20 steps ahead from the start is refused")
    func freshDrift() async throws {
        let fixture = try fixture(.wide)
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let outcome = try await fixture.verify(authenticator.code(at: fixture.clock.now, steps: 20))
        #expect(outcome.denial == .wrong)
    }

    @Test("T-12 after a late code, the next code is accepted on time")
    func slowCode() async throws {
        let fixture = try fixture(.rfc)
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now, steps: -1))
                .acceptance?.offset == -1)
        fixture.clock.advance(seconds: 300)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).acceptance?.offset
                == 0)
    }

    @Test("T-14 a clock set back by ten minutes does not make spent steps valid again")
    func clockBack() async throws {
        let fixture = try fixture(.wide)
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 3_000)
        let last = try authenticator.step(at: fixture.clock.now)
        #expect(try await fixture.verify(authenticator.code(last)).acceptance != nil)
        fixture.clock.advance(seconds: -600)
        for step in last - 30...last {
            #expect(
                try await fixture.verify(authenticator.code(step)).acceptance == nil, "step \(step)"
            )
        }
    }

    @Test(
        "T-14 if a clock jumps a year ahead and back, no step up to the latest spent step is valid")
    func leap() async throws {
        let fixture = try fixture(.wide)
        let authenticator = try await fixture.enrolled()
        let year: Int64 = 365 * 86_400
        fixture.clock.advance(seconds: year)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code).acceptance != nil)
        fixture.clock.advance(seconds: -year + 300)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).acceptance == nil)
        fixture.clock.advance(seconds: year)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).acceptance != nil)
    }

    @Test(
        "T-06 the very first step and steps beyond 32 bits are accepted",
        arguments: [0, 128_849_018_910])
    func extremeSteps(seconds: Int64) async throws {
        let fixture = try fixture(.wide, at: seconds)
        let authenticator = try await fixture.enrol()
        let confirmation = try await fixture.verifier.confirm(
            authenticator.credential, code: authenticator.code(at: fixture.clock.now))
        #expect(confirmation.acceptance?.offset == 0)
        fixture.clock.advance(seconds: 30)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).acceptance?.offset
                == 0)
    }

    @Test("with a clock set before 1970, no code is accepted and nothing crashes")
    func beforeTheEpoch() async throws {
        let fixture = try fixture(.wide)
        let authenticator = try await fixture.enrolled()
        fixture.clock.now = UnixTime(seconds: -1)
        #expect(try await fixture.verify(authenticator.code(0)).denial == .wrong)
    }
}

/// A key for which two neighbouring steps have the same code, which happens once in a million.
struct EqualCodes {
    let key: SecretBytes
    /// The earlier of the two steps.
    let step: UInt64

    /// The first pair of steps that a search from step 1,000 found.
    static func known() throws -> EqualCodes {
        let key = SecretBytes(text: "equal codes in steps")
        let step: UInt64 = 1_171_997
        let generator = CodeGenerator(key: key, algorithm: .sha1, style: .decimal(.six))
        guard generator.code(at: step) == generator.code(at: step + 1) else {
            throw BenchError.refused
        }
        return EqualCodes(key: key, step: step)
    }
}

@Suite("Time steps")
struct PeriodTests {
    @Test(
        "T-03 a credential's time step is in its URI, and codes of a different time step are refused",
        arguments: [30, 60])
    func otherPeriod(period: Int) async throws {
        let fixture = try VerifierFixture()
        // The clock and the key are fixed, so that no two codes are equal by chance.
        let key = SecretBytes(text: "a key of twenty byte")
        let authenticator = try await fixture.enrol(.time(period: period), key: key)
        let step = try #require(TimeStep(period: Int64(period)))
        #expect(authenticator.entry.movingFactor == .time(step))
        let row = try #require(await fixture.store.credential(authenticator.credential))
        guard case .time(let password) = try CredentialRecord(row).material else {
            throw BenchError.refused
        }
        #expect(password.seed.parameters.period == period)
        let first = try authenticator.code(at: fixture.clock.now)
        let confirmed = try await fixture.verifier.confirm(authenticator.credential, code: first)
        #expect(confirmed.acceptance != nil)
        fixture.clock.advance(seconds: 3_000)
        let other = period == 30 ? 60 : 30
        let otherStep = UInt64(fixture.clock.now.seconds) / UInt64(other)
        for near in otherStep - 1...otherStep + 1 {
            #expect(try await fixture.verify(authenticator.code(near)).denial == .wrong)
        }
        let own = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(own).acceptance != nil)
    }
}
