import StoreContract
import TestSupport
import Testing

@testable import Verification

/// The custody of an enrolled secret, as the device states it.
@Suite("Custody of enrolled secrets")
struct SecretCustodyTests {
    private static let claims = SecretCustody.allCases + [nil]

    @Test(
        "the custody that a device reports is listed until the credential ends", arguments: claims)
    func listed(custody: SecretCustody?) async throws {
        let fixture = try VerifierFixture()
        let grant = try await fixture.ticket()
        #expect(try await fixture.summary(grant.credential).custody == nil)
        let first = try #require(
            try await fixture.verifier.redeemEnrolment(grant.ticket, custody: custody).value)
        var device = TestDevice(credential: first.credential, secret: first.secret)
        for nonce in 1...3 as ClosedRange<UInt8> {
            #expect(try await fixture.summary(device.credential).custody == custody)
            device = device.with(
                try #require(try await fixture.login(device, nonce: nonce).acceptance).secret)
        }
        _ = try await fixture.verifier.revoke(device.credential)
        #expect(try await fixture.summary(device.credential).custody == nil)
    }

    @Test("a row without custody comes from an earlier version, and an unknown custody is refused")
    func row() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        var row = try #require(await fixture.store.credential(device.credential))
        let body = row.body
        // This byte is the number of open logins.
        #expect(body.last == 0)
        func custody() async throws -> SecretCustody? {
            let record = try CredentialRecord(row)
            #expect(record.row.body == row.body)
            return try record.summary(at: fixture.clock.now, keys: await fixture.keys.ring).custody
        }
        #expect(try await custody() == nil)
        func append(_ word: String) {
            var writer = ByteWriter()
            writer.write(word)
            row.body = body + writer.bytes
        }
        for expected in SecretCustody.allCases {
            append(expected.rawValue)
            #expect(try await custody() == expected)
            row.body.append(0)
            #expect(throws: VerifierError.damagedRow) { try CredentialRecord(row) }
        }
        for word in ["", "vault", "TPM"] {
            append(word)
            #expect(throws: VerifierError.damagedRow) { try CredentialRecord(row) }
        }
    }
}
