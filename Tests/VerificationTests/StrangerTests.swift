import Cryptography
import Testing

@testable import Verification

/// An attacker who knows a credential's id but none of its secrets.
@Suite("Requests without a secret")
struct StrangerTests {
    @Test(
        "N-38 V-06 a request without the secret gets no wipe order for an expired credential",
        arguments: [90, 365] as [Int64])
    func expired(days: Int64) async throws {
        let bench = try TestBench()
        let device = try await bench.enrolledDevice()
        let other = try await bench.enrolledDevice()
        bench.clock.advance(seconds: days * 86_400)
        let strangers = [
            try device.withSecretMadeUp(),
            // A secret that this server issued, but for another credential.
            device.with(other.secret),
        ]
        for (nonce, stranger) in strangers.enumerated() {
            let outcome = try await bench.login(stranger, nonce: UInt8(nonce))
            #expect(outcome.isDenied)
            #expect(outcome.wipe == nil)
        }
        #expect(try await bench.count(.wiped) == 0)
    }
}
