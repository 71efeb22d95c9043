import TestSupport
import Testing

@testable import Verification

@Suite("Throttle")
struct ThrottleTests {
    @Test("H-11 N-29 a wait follows the failures that a policy permits, which are at most ten")
    func firstFailureWithWait() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        try await fixture.fail(Policy.failuresUntilWait, authenticator)
        #expect(try await fixture.verify(wrong).denial == .throttled(retryAfter: Policy.firstWait))
        #expect(throws: VerifierError.outOfRange(.firstFailureWithWait)) {
            try Policy(firstFailureWithWait: 11)
        }
    }

    @Test("H-13 N-16 during a wait not even a correct code is checked; afterwards it is accepted")
    func waiting() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        for _ in 0..<Policy.failuresUntilWait { _ = try await fixture.verify(wrong) }
        fixture.clock.now = fixture.clock.now.adding(milliseconds: Policy.firstWait - 1)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).denial
                == .throttled(retryAfter: 1))
        let end = fixture.clock.now.adding(milliseconds: 1)
        let waiting = try await fixture.summary(authenticator.credential)
        #expect(waiting.failures == Policy.failuresUntilWait && waiting.waitsUntil == end)
        fixture.clock.now = end
        #expect(try await fixture.summary(authenticator.credential).waitsUntil == nil)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).acceptance != nil)
        #expect(try await fixture.summary(authenticator.credential).failures == 0)
    }

    @Test("N-16 the fifth failure imposes a wait of 30 s; further failures double it up to an hour")
    func doubling() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        for _ in 0..<4 { #expect(try await fixture.verify(wrong).denial == .wrong) }
        for seconds: Int64 in [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600] {
            #expect(try await fixture.verify(wrong).denial == .wrong)
            #expect(
                try await fixture.verify(wrong).denial
                    == .throttled(retryAfter: seconds * 1_000))
            fixture.clock.advance(seconds: seconds)
        }
    }

    @Test(
        "N-11 N-13 V-02 100 failures in a row disable a credential permanently, even at one a day")
    func slowAttack() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        for day in 1...100 {
            fixture.clock.advance(seconds: 86_400)
            let wrong = try authenticator.wrongCode(at: fixture.clock.now)
            #expect(try await fixture.verify(wrong).denial == .wrong, "day \(day)")
        }
        fixture.clock.advance(seconds: 86_400)
        let right = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(right).denial == .disabled)
        #expect(try await fixture.verifier.unlock(authenticator.credential) == .refused)
        let resync = try await fixture.verifier.resynchronize(
            authenticator.credential, first: right,
            second: authenticator.code(at: fixture.clock.now, steps: 1))
        #expect(resync.denial == .disabled)
        let summary = try await fixture.summary(authenticator.credential)
        #expect(summary.state == .disabled)
        #expect(summary.waitsUntil == nil)
        #expect(try await fixture.count(.disabled) == 1)
        #expect(throws: VerifierError.outOfRange(.disablingFailures)) {
            try Policy(disablingFailures: 101)
        }
    }

    @Test("N-11 unlocking ends waits but does not lift the limit of a hundred failures")
    func unlockedAttack() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        for _ in 1...100 {
            _ = try await fixture.verifier.unlock(authenticator.credential)
            #expect(try await fixture.verify(wrong).denial == .wrong)
        }
        #expect(try await fixture.summary(authenticator.credential).state == .disabled)
    }

    @Test("H-10 V-05 reaching the limit notifies the user exactly once")
    func notification() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        for _ in 0..<9 {
            _ = try await fixture.verify(wrong)
            fixture.clock.advance(seconds: 3_600)
        }
        let locked = try await fixture.events().filter { $0.kind == .locked }
        #expect(locked.count == 1)
        #expect(locked.first?.isNotification == true)
        #expect(locked.first?.credential == authenticator.credential)
    }

    @Test("N-12 a wrong code counts against every credential for which it was checked")
    func several() async throws {
        let fixture = try VerifierFixture()
        let one = try await fixture.enrolled()
        let other = try await fixture.enrolled(.counter(0))
        let wrong = try one.wrongCode(at: fixture.clock.now)
        for _ in 0..<2 { _ = try await fixture.verify(wrong) }
        #expect(try await fixture.summary(one.credential).failures == 2)
        #expect(try await fixture.summary(other.credential).failures == 2)
        for _ in 0..<98 {
            fixture.clock.advance(seconds: 3_600)
            _ = try await fixture.verify(try one.wrongCode(at: fixture.clock.now))
        }
        #expect(try await fixture.summary(one.credential).state == .disabled)
        #expect(try await fixture.summary(other.credential).state == .disabled)
    }

    @Test("N-14 a success resets the failures of the matching credential only")
    func successResets() async throws {
        let fixture = try VerifierFixture()
        let one = try await fixture.enrolled()
        let other = try await fixture.enrolled(.counter(0))
        fixture.clock.advance(seconds: 300)
        for _ in 0..<3 { _ = try await fixture.verify(one.wrongCode(at: fixture.clock.now)) }
        #expect(try await fixture.verify(one.code(at: fixture.clock.now)).acceptance != nil)
        #expect(try await fixture.summary(one.credential).failures == 0)
        #expect(try await fixture.summary(other.credential).failures == 3)
    }

    @Test("a code for a specified credential is checked only for that credential")
    func named() async throws {
        let fixture = try VerifierFixture()
        let one = try await fixture.enrolled()
        let other = try await fixture.enrolled(.counter(0))
        let outcome = try await fixture.verifier.verify(
            VerificationRequest(other.code(1), of: fixture.alice, credential: one.credential))
        #expect(outcome.denial == .wrong)
        #expect(try await fixture.summary(other.credential).failures == 0)
        let bob = try #require(Subject("bob"))
        #expect(
            try await fixture.verifier.verify(
                VerificationRequest(other.code(1), of: bob, credential: other.credential)
            ).denial == .unknown, "somebody else's credential")
    }

    @Test("a wait is not extended by a clock that was set back after a jump ahead")
    func clocks() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let year: Int64 = 365 * 86_400
        fixture.clock.advance(seconds: year)
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        for _ in 0..<Policy.failuresUntilWait { _ = try await fixture.verify(wrong) }
        // The clock is corrected: the wait starts again with its normal length.
        fixture.clock.advance(seconds: -year + 300)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code).denial == .throttled(retryAfter: Policy.firstWait))
        fixture.clock.now = fixture.clock.now.adding(milliseconds: Policy.firstWait)
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).acceptance != nil)
    }

    @Test("V-33 a replay is recorded and notifies the user, but does not count as a guess")
    func replay() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code).acceptance != nil)
        for _ in 0..<20 { #expect(try await fixture.verify(code).denial == .replayed) }
        #expect(try await fixture.summary(authenticator.credential).failures == 0)
        let events = try await fixture.events().filter { $0.kind == .replayed }
        #expect(events.count == 20)
        #expect(events.allSatisfy { $0.isNotification })
    }

    @Test(
        "T-10 a code that is not canonical is refused before any state is changed",
        arguments: [
            " 123456", "123456 ", "-123456", "123456-", "123\u{a0}456", "123\t456",
            "１２３４５６", "\u{feff}123456", "123456\0", "12345",
            "123456789", "", "+12345", "-12345", "12345a", "١٢٣٤٥٦", "123456\n", "0x1234",
            "ABCD-EFGH-IJKL-MNO1", "ABCD-EFGH-IJKL-MNO", "ABCD-EFGH-IJKL-MNOPA",
            "ABCD-EFGH-IJKL-MNOP ", "ABCD_EFGH_IJKL_MNOP", "ABCD-EFGH-IJKL-MNO\u{131}",
            "1" + String(repeating: " ", count: 64) + "23456", "ABCDEF",
        ])
    func canonical(text: String) {
        #expect(throws: VerifierError.malformedCode) { try PresentedCode(text: text) }
    }
    @Test("T-10 a code that was accepted is refused in each spelling that people type")
    func spellings() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let code = try authenticator.code(at: fixture.clock.now).characters.text
        func inserting(_ text: String) -> String { code.prefix(3) + text + code.dropFirst(3) }
        #expect(
            try await fixture.verify(PresentedCode(text: inserting(" "))).acceptance != nil)
        for spelling in [code, inserting(" "), inserting("-"), inserting("  - ")] {
            #expect(
                try await fixture.verify(PresentedCode(text: spelling)).denial == .replayed,
                "\(spelling.count) characters")
        }
    }
}
