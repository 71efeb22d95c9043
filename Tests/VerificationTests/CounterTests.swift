import Testing

@testable import Verification

@Suite("Counters")
struct CounterTests {
    @Test("H-09 a success sets the counter to the match plus one; earlier counters are refused")
    func spent() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled(.counter(0))
        #expect(try await fixture.verify(authenticator.code(4)).acceptance?.offset == 3)
        for counter in UInt64(0)...4 {
            #expect(
                try await fixture.verify(authenticator.code(counter)).acceptance == nil,
                "counter \(counter)")
            _ = try await fixture.verifier.unlock(authenticator.credential)
        }
        #expect(try await fixture.verify(authenticator.code(5)).acceptance?.offset == 0)
    }

    @Test("H-14 the look-ahead ends exactly at its limit", arguments: [0, 1, 10, 50])
    func lookAhead(steps: Int) async throws {
        for isBeyond in [false, true] {
            let fixture = try VerifierFixture(policy: Policy(lookAhead: steps))
            let authenticator = try await fixture.enrolled(.counter(7))
            let counter = 8 + UInt64(steps) + (isBeyond ? 1 : 0)
            let outcome = try await fixture.verify(authenticator.code(counter))
            #expect((outcome.acceptance == nil) == isBeyond)
        }
    }

    @Test("H-09 the last three spent codes are replays, not failures; earlier codes are failures")
    func recognized() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled(.counter(0))
        #expect(try await fixture.verify(authenticator.code(5)).acceptance != nil)
        for counter in UInt64(3)...5 {
            for _ in 0..<40 {
                #expect(try await fixture.verify(authenticator.code(counter)).denial == .replayed)
            }
        }
        #expect(try await fixture.summary(authenticator.credential).failures == 0)
        #expect(try await fixture.verify(authenticator.code(2)).denial == .wrong)
        #expect(try await fixture.summary(authenticator.credential).failures == 1)
        // No counter precedes 0, so no code exists for it.
        let bob = try #require(Subject("bob"))
        let new = try await fixture.enrolled(.counter(0), for: bob)
        let last = try await fixture.verifier.verify(new.code(.max), subject: bob)
        #expect(last.denial == .wrong)
    }

    @Test("H-05 a pair with a spent code is a replay, which does not count as a failure")
    func recognizedPairs() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled(.counter(0))
        #expect(try await fixture.verify(authenticator.code(5)).acceptance != nil)
        for (first, second) in [(3, 4), (4, 5), (5, 6)] as [(UInt64, UInt64)] {
            let outcome = try await fixture.verifier.resynchronize(
                authenticator.credential, first: authenticator.code(first),
                second: authenticator.code(second))
            #expect(outcome.denial == .replayed, "\(first), \(second)")
        }
        #expect(try await fixture.summary(authenticator.credential).failures == 0)
    }

    @Test("H-14 a request computes look-ahead + 1 codes, and the codes of three spent counters")
    func workOfLookAhead() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled(.counter(0))
        let before = fixture.meter.counts[.codes] ?? 0
        _ = try await fixture.verify(authenticator.wrongCode(at: fixture.clock.now))
        #expect((fixture.meter.counts[.codes] ?? 0) - before == 14)
    }

    @Test("H-14 a policy refuses a look-ahead below 0 or above 50", arguments: [-1, 51])
    func policy(lookAhead: Int) {
        #expect(throws: VerifierError.outOfRange(.lookAhead)) { try Policy(lookAhead: lookAhead) }
    }

    @Test("H-19 only the counter that the client specifies is checked")
    func clientCounter() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled(.counter(0))
        func verify(_ code: UInt64, _ counter: UInt64) async throws -> VerificationOutcome {
            try await fixture.verifier.verify(
                VerificationRequest(authenticator.code(code), of: fixture.alice, counter: counter))
        }
        #expect(try await verify(3, 2).denial == .wrong)
        #expect(try await verify(12, 12).denial == .wrong, "beyond the look-ahead")
        #expect(try await verify(0, 0).denial == .replayed, "spent")
        #expect(try await verify(11, 11).acceptance?.offset == 10)
        #expect(try await verify(12, 12).acceptance?.offset == 0)
    }

    @Test(
        "H-04 counters beyond 32 and 63 bits are stored without loss",
        arguments: [1 << 32 - 1, 1 << 32, 1 << 63 - 1, 1 << 63] as [UInt64])
    func wideCounters(counter: UInt64) async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled(.counter(counter))
        #expect(
            try await fixture.verify(authenticator.code(counter + 3)).acceptance?.offset == 2)
        #expect(try await fixture.verify(authenticator.code(counter + 3)).acceptance == nil)
    }

    @Test("N-03 using the last counter disables the credential, and the counter does not wrap")
    func end() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled(.counter(.max - 4))
        // The very last counter is never accepted, although it lies in the window.
        #expect(try await fixture.verify(authenticator.code(.max)).denial == .wrong)
        #expect(try await fixture.verify(authenticator.code(0)).denial == .wrong)
        #expect(try await fixture.verify(authenticator.code(.max - 1)).acceptance != nil)
        let summary = try await fixture.summary(authenticator.credential)
        #expect(summary.state == .disabled)
        #expect(summary.endReason == .counterExhausted)
        #expect(try await fixture.verify(authenticator.code(.max)).denial == .disabled)
        #expect(throws: VerifierError.enrolment(.counter)) {
            try OneTimePasswordEnrolment(issuer: "", account: "", factor: .counter(.max))
        }
    }

    @Test("H-05 T-13 two consecutive codes resynchronise a counter up to 100 ahead")
    func resync() async throws {
        for (ahead, isFound) in [(UInt64(11), true), (99, true), (100, false)] {
            let fixture = try VerifierFixture()
            let authenticator = try await fixture.enrolled(.counter(0))
            let first = 1 + ahead
            let outcome = try await fixture.verifier.resynchronize(
                authenticator.credential, first: authenticator.code(first),
                second: authenticator.code(first + 1))
            #expect((outcome.acceptance != nil) == isFound, "\(ahead) ahead")
            guard isFound else { continue }
            #expect(try await fixture.verify(authenticator.code(first + 1)).acceptance == nil)
            #expect(try await fixture.verify(authenticator.code(first + 2)).acceptance != nil)
        }
    }

    @Test("H-05 swapped, equal, distant and spent pairs do not resynchronise a counter")
    func resyncRefused() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled(.counter(0))
        #expect(try await fixture.verify(authenticator.code(5)).acceptance != nil)
        for (first, second) in [(21, 20), (20, 20), (20, 22), (4, 5), (5, 6), (0, 1)] {
            let outcome = try await fixture.verifier.resynchronize(
                authenticator.credential, first: authenticator.code(UInt64(first)),
                second: authenticator.code(UInt64(second)))
            #expect(outcome.acceptance == nil, "\(first), \(second)")
            _ = try await fixture.verifier.unlock(authenticator.credential)
        }
    }

    @Test("T-11 T-13 two consecutive codes resynchronise a clock up to 20 steps either way")
    func resyncTime() async throws {
        for steps in [-21, -20, -7, 7, 19, 20] {
            let fixture = try VerifierFixture()
            let authenticator = try await fixture.enrolled()
            fixture.clock.advance(seconds: 3_000)
            let now = fixture.clock.now
            let outcome = try await fixture.verifier.resynchronize(
                authenticator.credential, first: authenticator.code(at: now, steps: steps),
                second: authenticator.code(at: now, steps: steps + 1))
            let isFound = (-20...19).contains(steps)
            #expect((outcome.acceptance != nil) == isFound, "\(steps) steps")
            guard isFound else { continue }
            #expect(
                try await fixture.verify(authenticator.code(at: now, steps: steps + 1))
                    .acceptance == nil, "the second code is spent")
            fixture.clock.advance(seconds: 300)
            let next = try await fixture.verify(
                authenticator.code(at: fixture.clock.now, steps: steps + 1))
            #expect(next.acceptance?.offset == 0, "the drift is tracked")
        }
    }

    @Test(
        "T-13 a pair that is reversed or has a spent step or a gap does not resynchronise a clock")
    func resyncTimeRefused() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 3_000)
        let now = fixture.clock.now
        #expect(try await fixture.verify(authenticator.code(at: now)).acceptance != nil)
        for (first, second) in [(0, 1), (-1, 0), (5, 4), (5, 7), (5, 5)] {
            let outcome = try await fixture.verifier.resynchronize(
                authenticator.credential, first: authenticator.code(at: now, steps: first),
                second: authenticator.code(at: now, steps: second))
            #expect(outcome.acceptance == nil, "\(first), \(second)")
            _ = try await fixture.verifier.unlock(authenticator.credential)
        }
    }
}
