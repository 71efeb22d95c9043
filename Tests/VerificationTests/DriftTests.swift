import Testing

@testable import Verification

@Suite("Drift")
struct DriftTests {
    private static let day: Int64 = 86_400

    /// Presents the code that is `steps` away from the verifier's time step.
    private func accepts(
        _ authenticator: TestAuthenticator, _ fixture: VerifierFixture, steps: Int
    ) async throws -> Bool {
        let code = try authenticator.code(at: fixture.clock.now, steps: steps)
        let outcome = try await fixture.verify(code)
        // Failure counts are not the subject of this test.
        _ = try await fixture.verifier.unlock(authenticator.credential)
        return outcome.acceptance != nil
    }

    private func resynchronize(
        _ authenticator: TestAuthenticator, _ fixture: VerifierFixture, steps: Int
    ) async throws -> Bool {
        let outcome = try await fixture.verifier.resynchronize(
            authenticator.credential,
            first: authenticator.code(at: fixture.clock.now, steps: steps - 1),
            second: authenticator.code(at: fixture.clock.now, steps: steps))
        _ = try await fixture.verifier.unlock(authenticator.credential)
        return outcome.acceptance != nil
    }

    @Test("O-04 of 1,000 future codes, two are accepted, and the owner can sign in again in 90 s")
    func futureCodes() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        var accepted: [Int] = []
        for steps in 1...1_000 {
            let code = try authenticator.code(at: fixture.clock.now, steps: steps)
            if try await fixture.verify(code).acceptance != nil { accepted.append(steps) }
        }
        #expect(accepted == [1, 2])
        fixture.clock.advance(seconds: 90)
        #expect(try await accepts(authenticator, fixture, steps: 0))
        fixture.clock.advance(seconds: 60)
        #expect(try await resynchronize(authenticator, fixture, steps: 0))
    }

    @Test("O-04 of 20 recorded codes, each presented with a longer delay, two are accepted")
    func recordedCodes() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let first = try authenticator.step(at: fixture.clock.now) + 10
        var accepted: [Int] = []
        for number in 0..<20 {
            // The first code is one step late, and the last code is ten minutes late.
            let late = UInt64(number) + 1
            fixture.clock.now = UnixTime(seconds: Int64(first + UInt64(number) + late) * 30)
            let code = try authenticator.code(first + UInt64(number))
            if try await fixture.verify(code).acceptance != nil { accepted.append(number) }
            _ = try await fixture.verifier.unlock(authenticator.credential)
        }
        #expect(accepted == [0, 1])
    }

    @Test("O-04 logins move the drift at most once in 24 hours")
    func rate() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        // The first move needs no wait.
        #expect(try await accepts(authenticator, fixture, steps: 1))
        let moved = fixture.clock.now
        fixture.clock.now = moved.adding(milliseconds: Policy.driftInterval - 1)
        #expect(try await accepts(authenticator, fixture, steps: 2))
        fixture.clock.advance(seconds: 60)
        // The interval has now passed: this login moves the drift from 1 to 2.
        #expect(try await !accepts(authenticator, fixture, steps: 3))
        #expect(try await accepts(authenticator, fixture, steps: 2))
        fixture.clock.advance(seconds: 60)
        #expect(try await accepts(authenticator, fixture, steps: 3))
    }

    @Test("O-04 the drift stops at 20 steps, and the edge of that window is still accepted")
    func total() async throws {
        for sign in [1, -1] {
            let fixture = try VerifierFixture()
            let authenticator = try await fixture.enrolled()
            for steps in 1...20 {
                fixture.clock.advance(seconds: Self.day)
                #expect(try await accepts(authenticator, fixture, steps: sign * steps))
            }
            for _ in 0..<3 {
                fixture.clock.advance(seconds: Self.day)
                #expect(try await accepts(authenticator, fixture, steps: sign * 21))
                fixture.clock.advance(seconds: Self.day)
                #expect(try await !accepts(authenticator, fixture, steps: sign * 22))
            }
        }
    }

    @Test("O-04 T-13 repeated resynchronisation cannot move the drift beyond 20 steps")
    func resynchronizations() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 3_000)
        #expect(try await resynchronize(authenticator, fixture, steps: 20))
        fixture.clock.advance(seconds: 60)
        #expect(try await !resynchronize(authenticator, fixture, steps: 21))
        // The owner's clock was right, so the owner can resynchronise once those 20 steps have
        // passed.
        fixture.clock.advance(seconds: 20 * 30)
        #expect(try await resynchronize(authenticator, fixture, steps: 0))
        // A resynchronisation permits one move at once.
        fixture.clock.advance(seconds: 60)
        #expect(try await accepts(authenticator, fixture, steps: 1))
        fixture.clock.advance(seconds: 60)
        #expect(try await accepts(authenticator, fixture, steps: 2))
        fixture.clock.advance(seconds: 60)
        #expect(try await !accepts(authenticator, fixture, steps: 3))
    }
}
