import Cryptography
import TestSupport
import Testing

@testable import Verification

/// A database that lost its last commits, as a standby that was promoted too early can have.
@Suite("Lost commits")
struct LostCommitTests {
    /// Replaces the credential's row with an older one.
    private func putBack(_ row: CredentialRow, in bench: TestBench) async throws {
        let newer = try #require(await bench.store.credential(row.id))
        let restored = CredentialRow(
            id: row.id, subject: row.subject, kind: row.kind, state: row.state,
            version: newer.version + 1, keyID: row.keyID, fingerprint: row.fingerprint,
            createdAt: row.createdAt, lapsesAt: row.lapsesAt, body: row.body)
        #expect(try await bench.store.commit([.updateCredential(restored)]) == .done)
    }

    private func row(of device: TestDevice, in bench: TestBench) async throws -> CredentialRow {
        try #require(await bench.store.credential(device.credential))
    }

    @Test("R-06 a successor lost by the database causes no wipe and is issued again by its nonce")
    func oneLost() async throws {
        let bench = try TestBench()
        let device = try await bench.enrolledDevice()
        let before = try await row(of: device, in: bench)
        let lost = try #require(try await bench.login(device, nonce: 1).acceptance)
        try await putBack(before, in: bench)
        let early = try await bench.login(device.with(lost.secret), nonce: 2)
        #expect(early.isDenied)
        #expect(early.wipe == nil)
        // The device then presents the previous secret with its original nonce.
        let again = try #require(try await bench.login(device, nonce: 1).acceptance)
        #expect(again.secret.bytes == lost.secret.bytes)
        #expect(try await bench.login(device.with(again.secret), nonce: 3).acceptance != nil)
    }

    @Test("R-07 a fork after a lost commit is detected by its different nonce")
    func fork() async throws {
        let bench = try TestBench()
        let device = try await bench.enrolledDevice()
        let before = try await row(of: device, in: bench)
        let owner = try #require(try await bench.login(device, nonce: 1).acceptance)
        try await putBack(before, in: bench)
        #expect(try await bench.login(device, nonce: 2).acceptance != nil)
        let second = try await bench.login(device.with(owner.secret), nonce: 3)
        #expect(second.wipe == .reuseDetected)
    }

    @Test("a device is denied until the commits that the database lost are back")
    func manyLost() async throws {
        let bench = try TestBench()
        var device = try await bench.enrolledDevice()
        let before = try await row(of: device, in: bench)
        for turn in UInt8(1)...3 {
            let acceptance = try #require(try await bench.login(device, nonce: turn).acceptance)
            device = device.with(acceptance.secret)
        }
        let right = try await row(of: device, in: bench)
        try await putBack(before, in: bench)
        for turn in 4...UInt8(3 + 2 * Policy.secretFailures) {
            let outcome = try await bench.login(device, nonce: turn)
            #expect(outcome.isDenied)
            #expect(outcome.wipe == nil)
        }
        #expect(try await bench.summary(device.credential).state == .active)
        try await putBack(right, in: bench)
        #expect(try await bench.login(device, nonce: 4).acceptance != nil)
    }

    @Test("a device whose last login was lost can sign in with its previous secret")
    func secretBefore() async throws {
        let bench = try TestBench()
        let device = try await bench.enrolledDevice()
        let first = try #require(try await bench.login(device, nonce: 1).acceptance)
        let before = try await row(of: device, in: bench)
        let second = try #require(
            try await bench.login(device.with(first.secret), nonce: 2).acceptance)
        try await putBack(before, in: bench)
        let forgotten = device.with(second.secret)
        for turn in UInt8(3)...4 {
            #expect(try await bench.login(forgotten, nonce: turn).wipe == nil)
        }
        #expect(
            try await bench.login(device.with(first.secret), nonce: 2).acceptance != nil)
        #expect(try await bench.login(forgotten, nonce: 5).acceptance != nil)
    }
}
