import Cryptography
import Testing

@testable import Verification

/// An attacker who knows a credential's id but none of its secrets.
@Suite("Requests without a secret")
struct MissingSecretTests {
    @Test(
        "N-38 V-06 a request without the secret gets no wipe order for an expired credential",
        arguments: [90, 365] as [Int64])
    func expired(days: Int64) async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let other = try await fixture.enrolledDevice()
        fixture.clock.advance(seconds: days * 86_400)
        let strangers = [
            try device.withSecretMadeUp(),
            // A secret that this server issued, but for another credential.
            device.with(other.secret),
        ]
        for (nonce, stranger) in strangers.enumerated() {
            let outcome = try await fixture.login(stranger, nonce: UInt8(nonce))
            #expect(outcome.isDenied)
            #expect(outcome.wipe == nil)
        }
        #expect(try await fixture.count(.wiped) == 0)
    }
}
