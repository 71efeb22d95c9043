import OneTimePassword
import Testing

@testable import Verification

/// Tests that pairs of codes count as guesses, as single codes do.
@Suite("Resynchronisation")
struct ResynchronizationTests {
    /// The codes presented for one credential.
    private struct Desk {
        let bench: TestBench
        let authenticator: TestAuthenticator

        init(_ factor: OneTimePasswordEnrolment.Factor) async throws {
            bench = try TestBench()
            authenticator = try await bench.enrolled(factor)
            bench.clock.advance(seconds: 3_000)
        }

        private func present(
            _ first: PresentedCode, _ second: PresentedCode
        ) async throws -> VerificationOutcome {
            try await bench.verifier.resynchronize(
                authenticator.credential, first: first, second: second)
        }

        func presentWrong() async throws -> VerificationOutcome {
            let wrong = try authenticator.wrongCode(at: bench.clock.now)
            return try await present(wrong, wrong)
        }

        /// A correct single code, followed by the pair after it.
        func right() throws -> [PresentedCode] {
            if case .counter = authenticator.entry.movingFactor {
                return try [5, 6, 7].map { try authenticator.code($0) }
            }
            return try [0, 1, 2].map { try authenticator.code(at: bench.clock.now, steps: $0) }
        }

        func presentRight() async throws -> VerificationOutcome {
            let codes = try right()
            return try await present(codes[1], codes[2])
        }

        func failures() async throws -> Int {
            try await bench.summary(authenticator.credential).failures
        }
    }

    private static let factors: [OneTimePasswordEnrolment.Factor] = [
        .time(period: 30), .counter(0),
    ]

    @Test(
        "T-13 H-11 H-13 wrong pairs count like wrong codes; after five, even a correct pair waits",
        arguments: factors)
    func counted(factor: OneTimePasswordEnrolment.Factor) async throws {
        let desk = try await Desk(factor)
        for failures in 1...5 {
            #expect(try await desk.presentWrong().denial == .wrong)
            #expect(try await desk.failures() == failures)
        }
        let code = try desk.right()[0]
        #expect(try await desk.presentRight().denial == .throttled(retryAfter: 30_000))
        #expect(try await desk.bench.verify(code).denial == .throttled(retryAfter: 30_000))
        desk.bench.clock.advance(seconds: 29)
        #expect(try await desk.presentRight().denial == .throttled(retryAfter: 1_000))
        desk.bench.clock.advance(seconds: 1)
        #expect(try await desk.presentRight().acceptance != nil)
        #expect(try await desk.failures() == 0)
    }

    @Test("T-13 H-13 a wait after wrong codes applies to pairs", arguments: factors)
    func waits(factor: OneTimePasswordEnrolment.Factor) async throws {
        let desk = try await Desk(factor)
        let wrong = try desk.authenticator.wrongCode(at: desk.bench.clock.now)
        for _ in 1...5 { #expect(try await desk.bench.verify(wrong).denial == .wrong) }
        #expect(try await desk.presentRight().denial == .throttled(retryAfter: 30_000))
        #expect(try await desk.failures() == 5)
    }

    @Test("N-11 a hundred wrong pairs disable the credential", arguments: factors)
    func disabled(factor: OneTimePasswordEnrolment.Factor) async throws {
        let desk = try await Desk(factor)
        for _ in 1...100 {
            _ = try await desk.bench.verifier.unlock(desk.authenticator.credential)
            #expect(try await desk.presentWrong().denial == .wrong)
        }
        #expect(try await desk.presentRight().denial == .disabled)
    }
}
