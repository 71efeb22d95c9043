import OneTimePassword
import PasskeyVerification
import StoreContract
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Enrolment limits")
struct EnrolmentLimitTests {
    @Test("the number of credentials per subject is limited")
    func tooMany() async throws {
        let fixture = try VerifierFixture(policy: Policy(maximumCredentials: 2))
        _ = try await fixture.enrolled()
        _ = try await fixture.enrolledDevice()
        await #expect(throws: BenchError.refused) { try await fixture.enrol() }
        await #expect(throws: BenchError.refused) { try await fixture.ticket() }
        let outcome = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice)
        guard case .refused(.tooMany) = outcome else {
            Issue.record("a third credential was enrolled")
            return
        }
    }

    @Test("at the limit, a registration of any kind ends only the oldest unfinished registration")
    func unfinished() async throws {
        let bench = try PasskeyFixture()
        let fixture = bench.fixture
        let keys = DeviceKeys(fixture.verifier, audiences: ["https://login.example"])
        let account = PasskeyAccount(userName: "alice", displayName: "Alice")
        let active = try await fixture.enrolled().credential
        var pending: [CredentialID] = []
        for _ in 1..<Policy.standard.maximumCredentials {
            fixture.clock.advance(seconds: 1)
            pending.append(try await fixture.enrol().credential)
        }
        func expectOldestEnded(_ what: String) async throws {
            let first = pending.removeFirst()
            #expect(try await fixture.summary(first).endReason == .replaced, "\(what)")
            for id in pending {
                #expect(try await fixture.summary(id).state == .pending, "\(what)")
            }
            #expect(try await fixture.summary(active).state == .active, "\(what)")
        }
        _ = try await fixture.enrol()
        try await expectOldestEnded("one-time password")
        _ = try await fixture.ticket()
        try await expectOldestEnded("secret")
        _ = try await bench.begun()
        try await expectOldestEnded("passkey")
        _ = try await bench.passkeys.issueTicket(
            for: PasskeyEnrolment(for: fixture.alice), account: account)
        try await expectOldestEnded("passkey on a page")
        _ = try await keys.enrol(DeviceKeyEnrolment(for: fixture.alice))
        try await expectOldestEnded("device key")
        _ = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice)
        try await expectOldestEnded("recovery codes")
        let given = try OneTimePasswordImport(
            key: SecretBytes(text: "a key from elsewhere"), factor: .counter(0))
        guard
            case .imported = try await fixture.verifier.importOneTimePassword(
                given, for: fixture.alice)
        else { throw BenchError.refused }
        try await expectOldestEnded("import")
        #expect(try await fixture.count(.revoked) == 7)
        let live = try await fixture.verifier.credentials(of: fixture.alice).credentials
            .count { $0.state != .revoked }
        #expect(live == Policy.standard.maximumCredentials)
    }

    @Test("only a row with an enrolling client has the new format, and keeps the client")
    func rowFormats() async throws {
        let fixture = try VerifierFixture()
        let older = try #require(
            await fixture.store.credential(try await fixture.enrolled().credential))
        #expect(older.body.first == 1)
        #expect(try CredentialRecord(older).enroller == nil)
        let shop = Origin(client: 1)
        guard
            case .granted(let grant) = try await fixture.verifier.enrolSecret(
                for: fixture.alice, origin: shop),
            case .redeemed = try await fixture.verifier.redeemEnrolment(grant.ticket)
        else { throw BenchError.refused }
        let row = try #require(await fixture.store.credential(grant.credential))
        #expect(row.body.first == 2)
        #expect(try CredentialRecord(row).enroller == shop.client)
        let next = try CredentialRecord(row).row
        #expect(next.body == row.body)
    }

    @Test("of fifty concurrent registrations at the limit, none ends an active credential")
    func unfinishedRace() async throws {
        let fixture = try VerifierFixture(policy: Policy(maximumCredentials: 3))
        let active = [
            try await fixture.enrolled().credential, try await fixture.enrolledDevice().credential,
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await fixture.enrol() } }
            try await group.waitForAll()
        }
        for id in active { #expect(try await fixture.summary(id).state == .active) }
        let live = try await fixture.verifier.credentials(of: fixture.alice).credentials
            .filter { $0.state != .revoked }
        #expect(live.count == 3)
    }

    @Test("of fifty concurrent imports, no more than the limit permits succeed")
    func importRace() async throws {
        var barrier: BarrierStore?
        let fixture = try VerifierFixture(
            policy: Policy(maximumCredentials: 3),
            wrapping: { memory in
                let store = BarrierStore(memory)
                barrier = store
                return store
            })
        let (verifier, alice) = (fixture.verifier, fixture.alice)
        // All imports read before the first import commits.
        try await #require(barrier).gather(50, reading: .credential)
        let imported = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 as Range<UInt8> {
                let key = SecretBytes(copying: SampleKeys.bytes(number, 20).span)
                let given = try OneTimePasswordImport(
                    key: key, factor: .counter(0), isConfirmed: true)
                group.addTask {
                    let outcome = try await verifier.importOneTimePassword(given, for: alice)
                    if case .imported = outcome { return true }
                    return false
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(imported == 3)
    }
}
