import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Unknown subjects")
struct UnknownSubjectTests {
    /// The cost of an attempt: computations and store calls.
    private struct Cost: Equatable {
        var work: [WorkMeter.Work: Int] = [:]
        var calls: [CountingStore.Call] = []
    }

    private func cost(_ fixture: VerifierFixture, _ body: () async throws -> Void) async throws
        -> Cost
    {
        _ = await fixture.store.takeCalls()
        let before = fixture.meter.counts
        try await body()
        var cost = Cost(calls: await fixture.store.takeCalls())
        for (work, count) in fixture.meter.counts { cost.work[work] = count - (before[work] ?? 0) }
        return cost
    }

    @Test(
        "V-06 an unknown subject costs the same as a wrong code, a replay or a blocked credential",
        arguments: [false, true])
    func codes(isRecorded: Bool) async throws {
        let fixture = try VerifierFixture()
        let bob = try #require(Subject("bob"))
        let carol = try #require(Subject("carol"))
        let time = try await fixture.enrolled()
        let counter = try await fixture.enrolled(.counter(0), for: bob)
        fixture.clock.advance(seconds: 300)
        let wrong = try time.wrongCode(at: fixture.clock.now)
        func attempt(_ code: PresentedCode, _ subject: Subject) async throws -> Cost {
            try await cost(fixture) {
                let key = Randomness.bytes(count: 32)
                let recorder = Recorder<VerificationOutcome>(key: key, request: key) { _ in
                    SecretBytes(text: "")
                }
                _ = try await fixture.verifier.verify(
                    code, subject: subject, recorder: isRecorded ? recorder : nil)
            }
        }
        let unknown = try await attempt(wrong, carol)
        #expect(unknown.work[.codes] == 14)
        #expect(unknown.work[.openings] == 1)
        #expect(unknown.work[.rows] == 1)
        #expect(
            unknown.calls
                == (isRecorded
                    ? [.readAnswer, .readCredentials, .commit([.writeRow, .answer, .event])]
                    : [.readCredentials, .commit([.writeRow, .event])]))
        let events = try await fixture.events().count
        #expect(try await attempt(wrong, carol) == unknown, "counted")
        #expect(try await fixture.events().count == events, "counted")
        #expect(try await attempt(wrong, fixture.alice) == unknown, "TOTP")
        #expect(
            try await attempt(counter.wrongCode(at: fixture.clock.now), bob) == unknown, "HOTP")
        let right = try time.code(at: fixture.clock.now)
        #expect(try await attempt(right, fixture.alice) == unknown, "accepted")
        #expect(try await attempt(right, fixture.alice) == unknown, "replayed")
        #expect(
            try await attempt(counter.code(0), bob) == unknown, "HOTP, replayed at counter 0")
        for _ in 0..<Policy.failuresUntilWait { _ = try await fixture.verify(wrong) }
        #expect(try await fixture.verify(wrong).isThrottled)
        #expect(try await attempt(wrong, fixture.alice) == unknown, "waiting")
        for _ in Policy.failuresUntilWait..<Policy.standard.disablingFailures {
            fixture.clock.advance(seconds: 3_600)
            _ = try await fixture.verify(time.wrongCode(at: fixture.clock.now))
        }
        #expect(try await fixture.verify(wrong).denial == .disabled)
        #expect(try await attempt(wrong, fixture.alice) == unknown, "disabled")
    }

    @Test("the whole window is computed and compared, regardless of the correct code's position")
    func wholeWindow() async throws {
        for steps in -1...1 {
            let fixture = try VerifierFixture()
            let authenticator = try await fixture.enrolled()
            fixture.clock.advance(seconds: 300)
            let code = try authenticator.code(at: fixture.clock.now, steps: steps)
            let cost = try await cost(fixture) { _ = try await fixture.verify(code) }
            #expect(cost.work[.codes] == 14, "\(steps) steps")
        }
    }

    @Test("V-06 a recovery code for an unknown subject costs the same as a wrong recovery code")
    func recovery() async throws {
        let fixture = try VerifierFixture()
        let bob = try #require(Subject("bob"))
        _ = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice)
        let wrong = try PresentedCode(text: "AAAA-AAAA-AAAA-AAAA")
        let known = try await cost(fixture) { _ = try await fixture.verify(wrong) }
        let unknown = try await cost(fixture) {
            _ = try await fixture.verifier.verify(wrong, subject: bob)
        }
        #expect(known.work[.hashes] == 1)
        #expect(known == unknown)
    }

    @Test("V-06 an unknown credential costs the same as a wrong secret")
    func secrets() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let wrong = device.with(
            Token(.secret, Randomness.secret(count: SecretParts.count)))
        let none = TestDevice(
            credential: try #require(CredentialID(bytes: [UInt8](repeating: 9, count: 16))),
            secret: wrong.secret)
        let known = try await cost(fixture) { _ = try await fixture.login(wrong, nonce: 1) }
        let unknown = try await cost(fixture) { _ = try await fixture.login(none, nonce: 1) }
        #expect(known == unknown)
        _ = try await fixture.verifier.revoke(device.credential)
        let revoked = try await cost(fixture) { _ = try await fixture.login(wrong, nonce: 1) }
        #expect(revoked == unknown)
    }

    @Test("V-06 in a confirmation, an unknown credential costs the same as a wrong code")
    func confirmation() async throws {
        let fixture = try VerifierFixture()
        let pending = try await fixture.enrol()
        let wrong = try pending.wrongCode(at: fixture.clock.now)
        let none = try #require(CredentialID(bytes: [UInt8](repeating: 9, count: 16)))
        let known = try await cost(fixture) {
            _ = try await fixture.verifier.confirm(pending.credential, code: wrong)
        }
        let unknown = try await cost(fixture) {
            let outcome = try await fixture.verifier.confirm(none, code: wrong)
            #expect(outcome.denial == .unknown)
        }
        #expect(known == unknown)
        // The id exists, but its credential cannot be confirmed.
        let active = try await fixture.enrolled()
        let other = try await cost(fixture) {
            _ = try await fixture.verifier.confirm(active.credential, code: wrong)
        }
        #expect(other == unknown)
    }

    @Test("V-06 a signature for an unknown or different credential costs as much as a wrong one")
    func deviceKeys() async throws {
        let fixture = try VerifierFixture()
        let keys = DeviceKeys(fixture.verifier, audiences: ["https://login.example"])
        let device = try TestDeviceKey()
        guard
            case .granted(let grant) = try await keys.enrol(DeviceKeyEnrolment(for: fixture.alice)),
            case .accepted(let known, _) = try await keys.register(device, grant.ticket)
        else { throw BenchError.refused }
        let other = try await fixture.enrolled().credential
        let none = try #require(CredentialID(bytes: [UInt8](repeating: 9, count: 16)))
        var costs: [Cost] = []
        for id in [known, none, other] {
            let challenge = try await keys.challenge(for: id)
            let sent = DeviceKeySignature(
                credential: id, challenge: challenge.token, audience: "https://login.example",
                purpose: .signIn, presence: .none, signature: [UInt8](repeating: 1, count: 70))
            costs.append(try await cost(fixture) { _ = try await keys.verify(sent) })
        }
        #expect(costs[0].work[.rows] == 1)
        #expect(costs.allSatisfy { $0 == costs[0] }, "\(costs)")
        // The activation has a wrong secret.
        let secret = Randomness.secret(count: 32)
        costs = []
        for id in [known, none, other] {
            costs.append(try await cost(fixture) { _ = try await keys.activate(id, with: secret) })
        }
        #expect(costs.allSatisfy { $0 == costs[0] }, "\(costs)")
    }
}
