import Cryptography
import Testing

@testable import Verification

/// Somebody who knows a credential's id and none of its secrets.
@Suite("Strangers")
struct StrangerTests {
    @Test(
        "N-38 V-06 nobody without the secret is told to wipe once a credential has expired",
        arguments: [90, 365] as [Int64])
    func expired(days: Int64) async throws {
        let bench = try TestBench()
        let device = try await bench.enrolledDevice()
        let other = try await bench.enrolledDevice()
        bench.clock.advance(seconds: days * 86_400)
        let strangers = [
            try device.withSecretMadeUp(),
            // A secret that this server made, but for another credential.
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
