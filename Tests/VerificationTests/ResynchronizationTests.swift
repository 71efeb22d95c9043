import OneTimePassword
import Testing

@testable import Verification

/// Tests that pairs of codes count as guesses, as single codes do.
@Suite("Resynchronisation")
struct ResynchronizationTests {
    /// The codes presented for one credential.
    private struct Harness {
        let fixture: VerifierFixture
        let authenticator: TestAuthenticator

        init(_ factor: OneTimePasswordEnrolment.Factor) async throws {
            fixture = try VerifierFixture()
            authenticator = try await fixture.enrolled(factor)
            fixture.clock.advance(seconds: 3_000)
        }

        private func present(
            _ first: PresentedCode, _ second: PresentedCode
        ) async throws -> VerificationOutcome {
            try await fixture.verifier.resynchronize(
                authenticator.credential, first: first, second: second)
        }

        func presentWrong() async throws -> VerificationOutcome {
            let wrong = try authenticator.wrongCode(at: fixture.clock.now)
            return try await present(wrong, wrong)
        }

        /// A correct single code is followed by the pair of codes after it.
        func right() throws -> [PresentedCode] {
            if case .counter = authenticator.entry.movingFactor {
                return try [5, 6, 7].map { try authenticator.code($0) }
            }
            return try [0, 1, 2].map { try authenticator.code(at: fixture.clock.now, steps: $0) }
        }

        func presentRight() async throws -> VerificationOutcome {
            let codes = try right()
            return try await present(codes[1], codes[2])
        }

        func failures() async throws -> Int {
            try await fixture.summary(authenticator.credential).failures
        }
    }

    private static let factors: [OneTimePasswordEnrolment.Factor] = [
        .time(period: 30), .counter(0),
    ]

    @Test(
        "T-13 H-11 H-13 wrong pairs count like wrong codes; during the wait, a correct pair is refused",
        arguments: factors)
    func counted(factor: OneTimePasswordEnrolment.Factor) async throws {
        let harness = try await Harness(factor)
        for failures in 1...Policy.failuresUntilWait {
            #expect(try await harness.presentWrong().denial == .wrong)
            #expect(try await harness.failures() == failures)
        }
        let code = try harness.right()[0]
        #expect(try await harness.presentRight().denial == .throttled(retryAfter: Policy.firstWait))
        #expect(
            try await harness.fixture.verify(code).denial
                == .throttled(retryAfter: Policy.firstWait))
        let end = harness.fixture.clock.now.adding(milliseconds: Policy.firstWait)
        harness.fixture.clock.now = end.adding(milliseconds: -1_000)
        #expect(try await harness.presentRight().denial == .throttled(retryAfter: 1_000))
        harness.fixture.clock.now = end
        #expect(try await harness.presentRight().acceptance != nil)
        #expect(try await harness.failures() == 0)
    }

    @Test("T-13 H-13 a wait after wrong codes also applies to pairs", arguments: factors)
    func waits(factor: OneTimePasswordEnrolment.Factor) async throws {
        let harness = try await Harness(factor)
        let wrong = try harness.authenticator.wrongCode(at: harness.fixture.clock.now)
        for _ in 1...Policy.failuresUntilWait {
            #expect(try await harness.fixture.verify(wrong).denial == .wrong)
        }
        #expect(try await harness.presentRight().denial == .throttled(retryAfter: Policy.firstWait))
        #expect(try await harness.failures() == Policy.failuresUntilWait)
    }

    @Test("N-11 a hundred wrong pairs disable the credential", arguments: factors)
    func disabled(factor: OneTimePasswordEnrolment.Factor) async throws {
        let harness = try await Harness(factor)
        for _ in 1...100 {
            _ = try await harness.fixture.verifier.unlock(harness.authenticator.credential)
            #expect(try await harness.presentWrong().denial == .wrong)
        }
        #expect(try await harness.presentRight().denial == .disabled)
    }
}
