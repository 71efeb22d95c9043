import Testing

@testable import Verification

@Suite("Drift")
struct DriftTests {
    private static let day: Int64 = 86_400

    /// Presents the code of our own step and `steps` more.
    private func accepts(
        _ authenticator: TestAuthenticator, _ bench: TestBench, steps: Int
    ) async throws -> Bool {
        let code = try authenticator.code(at: bench.clock.now, steps: steps)
        let outcome = try await bench.verify(code)
        // Failures are not what is tested here.
        _ = try await bench.verifier.unlock(authenticator.credential)
        return outcome.acceptance != nil
    }

    private func resynchronize(
        _ authenticator: TestAuthenticator, _ bench: TestBench, steps: Int
    ) async throws -> Bool {
        let outcome = try await bench.verifier.resynchronize(
            authenticator.credential,
            first: authenticator.code(at: bench.clock.now, steps: steps - 1),
            second: authenticator.code(at: bench.clock.now, steps: steps))
        _ = try await bench.verifier.unlock(authenticator.credential)
        return outcome.acceptance != nil
    }

    @Test("O-04 of 1,000 future codes at one moment two are accepted; the owner is back in 90 s")
    func futureCodes() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        bench.clock.advance(seconds: 300)
        var accepted: [Int] = []
        for steps in 1...1_000 {
            let code = try authenticator.code(at: bench.clock.now, steps: steps)
            if try await bench.verify(code).acceptance != nil { accepted.append(steps) }
        }
        #expect(accepted == [1, 2])
        bench.clock.advance(seconds: 90)
        #expect(try await accepts(authenticator, bench, steps: 0))
        bench.clock.advance(seconds: 60)
        #expect(try await resynchronize(authenticator, bench, steps: 0))
    }

    @Test("O-04 of 20 recorded codes, each presented one step later, two are accepted")
    func recordedCodes() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        let first = try authenticator.step(at: bench.clock.now) + 10
        var accepted: [Int] = []
        for number in 0..<20 {
            // The first is a step late, the last ten minutes.
            let late = UInt64(number) + 1
            bench.clock.now = UnixTime(seconds: Int64(first + UInt64(number) + late) * 30)
            let code = try authenticator.code(first + UInt64(number))
            if try await bench.verify(code).acceptance != nil { accepted.append(number) }
            _ = try await bench.verifier.unlock(authenticator.credential)
        }
        #expect(accepted == [0, 1])
    }

    @Test("O-04 a login moves the drift once in 24 hours, and not a moment sooner")
    func rate() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        bench.clock.advance(seconds: 300)
        // The first move is free.
        #expect(try await accepts(authenticator, bench, steps: 1))
        let moved = bench.clock.now
        bench.clock.now = moved.adding(milliseconds: Policy.driftInterval - 1)
        #expect(try await accepts(authenticator, bench, steps: 2))
        bench.clock.advance(seconds: 60)
        // The clock is past the interval now: this one moves the drift from 1 to 2.
        #expect(try await !accepts(authenticator, bench, steps: 3))
        #expect(try await accepts(authenticator, bench, steps: 2))
        bench.clock.advance(seconds: 60)
        #expect(try await accepts(authenticator, bench, steps: 3))
    }

    @Test("O-04 the drift ends at 20 steps, where the window's edge is still accepted")
    func total() async throws {
        for sign in [1, -1] {
            let bench = try TestBench()
            let authenticator = try await bench.enrolled()
            for steps in 1...20 {
                bench.clock.advance(seconds: Self.day)
                #expect(try await accepts(authenticator, bench, steps: sign * steps))
            }
            for _ in 0..<3 {
                bench.clock.advance(seconds: Self.day)
                #expect(try await accepts(authenticator, bench, steps: sign * 21))
                bench.clock.advance(seconds: Self.day)
                #expect(try await !accepts(authenticator, bench, steps: sign * 22))
            }
        }
    }

    @Test("O-04 T-13 resynchronisations reach 20 steps from our clock, however many there are")
    func resynchronizations() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        bench.clock.advance(seconds: 3_000)
        #expect(try await resynchronize(authenticator, bench, steps: 20))
        bench.clock.advance(seconds: 60)
        #expect(try await !resynchronize(authenticator, bench, steps: 21))
        // The owner, whose clock was right, gets back in once those 20 steps are over.
        bench.clock.advance(seconds: 20 * 30)
        #expect(try await resynchronize(authenticator, bench, steps: 0))
        // A free move after it.
        bench.clock.advance(seconds: 60)
        #expect(try await accepts(authenticator, bench, steps: 1))
        bench.clock.advance(seconds: 60)
        #expect(try await accepts(authenticator, bench, steps: 2))
        bench.clock.advance(seconds: 60)
        #expect(try await !accepts(authenticator, bench, steps: 3))
    }
}
