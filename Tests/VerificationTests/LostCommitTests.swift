import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

/// A database that lost its last commits, as can happen if a standby is promoted too early.
@Suite("Lost commits")
struct LostCommitTests {
    /// Replaces the credential's row with an older one.
    private func rolledBack(_ row: CredentialRow, in fixture: VerifierFixture) async throws {
        let newer = try #require(await fixture.store.credential(row.id))
        let restored = CredentialRow(
            id: row.id, subject: row.subject, kind: row.kind, state: row.state,
            version: newer.version + 1, keyID: row.keyID, fingerprint: row.fingerprint,
            createdAt: row.createdAt, lapsesAt: row.lapsesAt, body: row.body)
        #expect(try await fixture.store.commit([.updateCredential(restored)]) == .done)
    }

    private func row(of device: TestDevice, in fixture: VerifierFixture) async throws
        -> CredentialRow
    {
        try #require(await fixture.store.credential(device.credential))
    }

    @Test("R-06 a successor lost by the database causes no wipe and is reissued for the same nonce")
    func oneLost() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let before = try await row(of: device, in: fixture)
        let lost = try #require(try await fixture.login(device, nonce: 1).acceptance)
        try await rolledBack(before, in: fixture)
        let early = try await fixture.login(device.with(lost.secret), nonce: 2)
        #expect(early.isDenied)
        #expect(early.wipe == nil)
        // The device then presents the previous secret with its original nonce.
        let again = try #require(try await fixture.login(device, nonce: 1).acceptance)
        #expect(again.secret.bytes == lost.secret.bytes)
        #expect(try await fixture.login(device.with(again.secret), nonce: 3).acceptance != nil)
    }

    @Test("R-07 a fork after a lost commit is detected by its different nonce")
    func fork() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let before = try await row(of: device, in: fixture)
        let owner = try #require(try await fixture.login(device, nonce: 1).acceptance)
        try await rolledBack(before, in: fixture)
        #expect(try await fixture.login(device, nonce: 2).acceptance != nil)
        let second = try await fixture.login(device.with(owner.secret), nonce: 3)
        #expect(second.wipe == .reuseDetected)
    }

    @Test("a device is denied until the commits that the database lost are back")
    func manyLost() async throws {
        let fixture = try VerifierFixture()
        var device = try await fixture.enrolledDevice()
        let before = try await row(of: device, in: fixture)
        for turn in UInt8(1)...3 {
            let acceptance = try #require(try await fixture.login(device, nonce: turn).acceptance)
            device = device.with(acceptance.secret)
        }
        let right = try await row(of: device, in: fixture)
        try await rolledBack(before, in: fixture)
        for turn in 4...UInt8(3 + 2 * Policy.secretFailures) {
            let outcome = try await fixture.login(device, nonce: turn)
            #expect(outcome.isDenied)
            #expect(outcome.wipe == nil)
        }
        #expect(try await fixture.summary(device.credential).state == .active)
        try await rolledBack(right, in: fixture)
        #expect(try await fixture.login(device, nonce: 4).acceptance != nil)
    }

    @Test("a device whose last login was lost can sign in with its previous secret")
    func secretBefore() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let first = try #require(try await fixture.login(device, nonce: 1).acceptance)
        let before = try await row(of: device, in: fixture)
        let second = try #require(
            try await fixture.login(device.with(first.secret), nonce: 2).acceptance)
        try await rolledBack(before, in: fixture)
        let forgotten = device.with(second.secret)
        for turn in UInt8(3)...4 {
            #expect(try await fixture.login(forgotten, nonce: turn).wipe == nil)
        }
        #expect(
            try await fixture.login(device.with(first.secret), nonce: 2).acceptance != nil)
        #expect(try await fixture.login(forgotten, nonce: 5).acceptance != nil)
    }
}
