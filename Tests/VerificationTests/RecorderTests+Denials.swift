import StoreContract
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

// The responses to denials.
extension RecorderTests {
    @Test("V-18 a request denied without a check gets the response that was recorded meanwhile")
    func overtaken() async throws {
        var wrapped: (memory: MemoryStore, barrier: BarrierStore)?
        let fixture = try VerifierFixture(wrapping: { memory in
            let barrier = BarrierStore(memory)
            wrapped = (memory, barrier)
            return barrier
        })
        let (memory, barrier) = try #require(wrapped)
        let clock = fixture.clock
        let other = Verifier(store: memory, keys: await fixture.keys.ring, clock: { clock.now })
        let pending = try await fixture.enrol()
        let code = try pending.code(at: clock.now)
        await barrier.gather(2, reading: .answer)
        async let late = recorded {
            try await fixture.verifier.confirm(
                pending.credential, code: code, recorder: recorder())
        }
        // The late request found no response, and the credential is no longer pending.
        while await barrier.awaited > 1 { await Task.yield() }
        let first = try await other.confirm(
            pending.credential, code: code, recorder: recorder())
        #expect(first.acceptance != nil)
        _ = try await barrier.answer(key: RecorderTests.key)
        #expect(try await late?.answer?.text == "\(first.verification.text) true")
    }

    @Test("O-06 O-07 a denied login is decided again under the same idempotency key")
    func denialsAreNotKept() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let nonce = try #require(
            RotationNonce(bytes: [UInt8](repeating: 1, count: RotationNonce.count)))
        func login(_ secret: Token) async throws -> LoginOutcome {
            try await fixture.verifier.login(
                device.credential, secret: secret, nonce: nonce,
                recorder: recorder(1) { _ in SecretBytes(text: "") })
        }
        #expect(try await login(device.withSecretMadeUp().secret).isDenied)
        fixture.clock.advance(seconds: 91 * 86_400)
        #expect(try await login(device.secret).isDenied)
        fixture.clock.advance(seconds: -91 * 86_400)
        #expect(try await login(device.secret).acceptance != nil)
    }
}
