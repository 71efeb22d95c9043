import Cryptography
import TestSupport
import Testing

@testable import Verification

@Suite("Unknown subjects")
struct UnknownSubjectTests {
    /// The cost of an attempt: computations and store calls.
    private struct Cost: Equatable {
        var work: [WorkMeter.Work: Int] = [:]
        var calls: [CountingStore.Call] = []
    }

    private func cost(_ bench: TestBench, _ body: () async throws -> Void) async throws -> Cost {
        _ = await bench.store.takeCalls()
        let before = bench.meter.counts
        try await body()
        var cost = Cost(calls: await bench.store.takeCalls())
        for (work, count) in bench.meter.counts { cost.work[work] = count - (before[work] ?? 0) }
        return cost
    }

    @Test("V-06 an unknown subject costs what a wrong, waiting, disabled or replayed code costs")
    func codes() async throws {
        let bench = try TestBench()
        let bob = try #require(Subject("bob"))
        let carol = try #require(Subject("carol"))
        let time = try await bench.enrolled()
        let counter = try await bench.enrolled(.counter(0), for: bob)
        bench.clock.advance(seconds: 300)
        let wrong = try time.wrongCode(at: bench.clock.now)
        func attempt(_ code: PresentedCode, _ subject: Subject) async throws -> Cost {
            try await cost(bench) { _ = try await bench.verifier.verify(code, subject: subject) }
        }
        let unknown = try await attempt(wrong, carol)
        #expect(unknown.work[.codes] == 11)
        #expect(unknown.work[.openings] == 1)
        #expect(unknown.calls == [.readCredentials, .commit([.writeRow, .event])])
        #expect(try await attempt(wrong, bench.alice) == unknown, "TOTP")
        #expect(
            try await attempt(counter.wrongCode(at: bench.clock.now), bob) == unknown, "HOTP")
        let right = try time.code(at: bench.clock.now)
        #expect(try await attempt(right, bench.alice) == unknown, "accepted")
        #expect(try await attempt(right, bench.alice) == unknown, "replayed")
        for _ in 0..<5 { _ = try await bench.verify(wrong) }
        #expect(try await bench.verify(wrong).isThrottled)
        #expect(try await attempt(wrong, bench.alice) == unknown, "waiting")
        for _ in 0..<95 {
            bench.clock.advance(seconds: 3_600)
            _ = try await bench.verify(time.wrongCode(at: bench.clock.now))
        }
        #expect(try await bench.verify(wrong).denial == .disabled)
        #expect(try await attempt(wrong, bench.alice) == unknown, "disabled")
    }

    @Test("the whole window is computed and compared wherever the correct code is")
    func wholeWindow() async throws {
        for steps in -1...1 {
            let bench = try TestBench()
            let authenticator = try await bench.enrolled()
            bench.clock.advance(seconds: 300)
            let code = try authenticator.code(at: bench.clock.now, steps: steps)
            let cost = try await cost(bench) { _ = try await bench.verify(code) }
            #expect(cost.work[.codes] == 11, "\(steps) steps")
        }
    }

    @Test("V-06 an unknown subject costs a recovery-code hash, too")
    func recovery() async throws {
        let bench = try TestBench()
        let bob = try #require(Subject("bob"))
        _ = try await bench.verifier.enrolRecoveryCodes(for: bench.alice)
        let wrong = try PresentedCode(text: "AAAA-AAAA-AAAA-AAAA")
        let known = try await cost(bench) { _ = try await bench.verify(wrong) }
        let unknown = try await cost(bench) {
            _ = try await bench.verifier.verify(wrong, subject: bob)
        }
        #expect(known.work[.hashes] == 1)
        #expect(known == unknown)
    }

    @Test("V-06 an unknown credential costs what a wrong secret costs")
    func secrets() async throws {
        let bench = try TestBench()
        let device = try await bench.enrolledDevice()
        let wrong = device.with(
            Token(.secret, try Randomness.secret(count: PresentedSecret.count)))
        let none = TestDevice(
            credential: try #require(CredentialID(bytes: [UInt8](repeating: 9, count: 16))),
            secret: wrong.secret)
        let known = try await cost(bench) { _ = try await bench.login(wrong, nonce: 1) }
        let unknown = try await cost(bench) { _ = try await bench.login(none, nonce: 1) }
        #expect(known == unknown)
        _ = try await bench.verifier.revoke(device.credential)
        let revoked = try await cost(bench) { _ = try await bench.login(wrong, nonce: 1) }
        #expect(revoked == unknown)
    }

    @Test("V-06 an unknown credential costs what a wrong code costs in a confirmation")
    func confirmation() async throws {
        let bench = try TestBench()
        let pending = try await bench.enrol()
        let wrong = try pending.wrongCode(at: bench.clock.now)
        let none = try #require(CredentialID(bytes: [UInt8](repeating: 9, count: 16)))
        let known = try await cost(bench) {
            _ = try await bench.verifier.confirm(pending.credential, code: wrong)
        }
        let unknown = try await cost(bench) {
            let outcome = try await bench.verifier.confirm(none, code: wrong)
            #expect(outcome.denial == .unknown)
        }
        #expect(known == unknown)
    }
}
