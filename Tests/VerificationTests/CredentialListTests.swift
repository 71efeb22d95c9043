import OneTimePassword
import StoreContract
import TestSupport
import Testing

@testable import Verification

@Suite("Lists of credentials")
struct CredentialListTests {
    /// Adds a revoked row that the subject had used.
    private func addRevoked(
        _ number: Int, createdAt: Int64, _ fixture: VerifierFixture
    ) async throws -> CredentialID {
        var record = CredentialRecord(
            id: .sample(number), subject: fixture.alice, kind: .secret, createdAt: .at(createdAt),
            origin: .unknown, state: .active, name: "", material: .none)
        record.confirmedAt = record.createdAt
        record.end(as: .revoked, because: .replaced, at: .at(createdAt + 1))
        #expect(try await fixture.store.commit([.insertCredential(record.row)]) == .done)
        return record.id
    }

    private func pages(
        _ fixture: VerifierFixture, limit: Int
    ) async throws -> [[CredentialID]] {
        var pages: [[CredentialID]] = []
        var next: UnixTime?
        repeat {
            let page = try await fixture.verifier.credentials(
                of: fixture.alice, revokedBefore: next, limit: limit)
            pages.append(page.credentials.map(\.id))
            next = page.next
        } while next != nil
        return pages
    }

    @Test("live credentials come first, regardless of the number of older revoked ones")
    func liveFirst() async throws {
        let fixture = try VerifierFixture()
        for number in 0..<1_100 {
            _ = try await addRevoked(number, createdAt: Int64(number), fixture)
        }
        let first = try await fixture.enrolled()
        let disabled = try await fixture.enrol()
        let row = try #require(await fixture.store.credential(disabled.credential))
        var record = try CredentialRecord(row)
        record.end(as: .disabled, because: .tooManyFailures, at: fixture.clock.now)
        #expect(try await fixture.store.commit([.updateCredential(record.row)]) == .done)
        fixture.clock.advance(seconds: 1)
        let last = try await fixture.enrolled()
        let pages = try await pages(fixture, limit: 1_000)
        #expect(pages.map(\.count) == [1_003, 100])
        #expect(
            pages[0].prefix(4) == [
                first.credential, last.credential, disabled.credential, .sample(1_099),
            ])
        #expect(pages[1].last == .sample(0))
    }

    @Test("the pages list every revoked credential once, even those of the same millisecond")
    func everyRow() async throws {
        let fixture = try VerifierFixture()
        var expected: [CredentialID] = []
        let times: [Int64] = [1, 1, 1, 2, 3, 3, 4, 5, 5]
        for (number, time) in times.enumerated() {
            expected.insert(try await addRevoked(number, createdAt: time, fixture), at: 0)
        }
        for limit in 1...10 {
            let pages = try await pages(fixture, limit: limit)
            #expect(pages.flatMap { $0 } == expected, "\(limit)")
            #expect(!pages.contains([]) && pages.count <= 9, "\(limit)")
        }
    }

    @Test("a credential in any state counts as enrolled if it was ever confirmed")
    func everConfirmed() async throws {
        let fixture = try VerifierFixture()
        func hasEverConfirmed() async throws -> Bool {
            try await fixture.verifier.hasEverConfirmed(fixture.alice)
        }
        #expect(try await !hasEverConfirmed())
        let disabled = try await fixture.enrol()
        #expect(try await !hasEverConfirmed())
        let row = try #require(await fixture.store.credential(disabled.credential))
        var record = try CredentialRecord(row)
        record.end(as: .disabled, because: .tooManyFailures, at: fixture.clock.now)
        #expect(try await fixture.store.commit([.updateCredential(record.row)]) == .done)
        let revoked = try await fixture.enrol()
        #expect(try await fixture.verifier.revoke(revoked.credential) == .done)
        #expect(try await !hasEverConfirmed())
        let first = try await fixture.enrolled()
        #expect(try await hasEverConfirmed())
        #expect(try await fixture.verifier.revoke(first.credential) == .done)
        fixture.clock.advance(seconds: 1)
        // The enrolments that were revoked since then fill more than one page.
        for _ in 0..<120 {
            let other = try await fixture.enrol()
            #expect(try await fixture.verifier.revoke(other.credential) == .done)
        }
        #expect(try await hasEverConfirmed())
        let bob = try #require(Subject("bob"))
        #expect(try await !fixture.verifier.hasEverConfirmed(bob))
    }

    @Test("a decision sees every credential that an earlier policy allowed")
    func earlierPolicy() async throws {
        let fixture = try VerifierFixture(policy: Policy(maximumCredentials: 100))
        for _ in 0..<19 { _ = try await fixture.ticket() }
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let verifier = try fixture.anotherVerifier(policy: Policy(maximumCredentials: 1))
        let outcome = try await verifier.verify(
            authenticator.code(at: fixture.clock.now), subject: fixture.alice)
        #expect(outcome.acceptance != nil)
    }

    @Test("an ended row that is not needed as proof is pruned, and a row that was in use never is")
    func pruned() async throws {
        let fixture = try VerifierFixture()
        func days(_ count: Int64) async throws -> Set<CredentialID> {
            fixture.clock.advance(seconds: count * 86_400)
            _ = try await fixture.store.prune(Pruning(now: fixture.clock.now))
            var audit = RowAudit(chains: try await fixture.store.chains(), key: fixture.auditKey)
            for event in try await fixture.store.events(after: 0, limit: .max) { audit.take(event) }
            let rows = try await fixture.store.credentials(.under(nil, after: nil), limit: .max)
            audit.check(rows.map { AuditedRow.whole($0) })
            #expect(audit.findings() == [])
            return Set(rows.map(\.id))
        }
        let used = try await fixture.enrolled()
        let key = try await fixture.enrolledDevice()
        let unconfirmed = try await fixture.enrol()
        let restored = try await fixture.enrol()
        let set = try await fixture.verifier.enrolRecoveryCodes(
            for: fixture.alice
        ).granted()
        for id in [used.credential, key.credential, unconfirmed.credential, set.credential] {
            #expect(try await fixture.verifier.revoke(id) == .done)
        }
        let row = try #require(await fixture.store.credential(restored.credential))
        let after = try #require(try row.afterRestoring(at: fixture.clock.now))
        #expect(
            try await fixture.store.commit([
                .updateCredential(after.row), .appendEvent(after.event),
            ]) == .done)
        let proofs: Set = [used.credential, key.credential, restored.credential]
        #expect(try await days(0) == proofs.union([unconfirmed.credential, set.credential]))
        #expect(try await days(1) == proofs.union([set.credential]))
        #expect(try await days(398) == proofs.union([set.credential]))
        #expect(try await days(1) == proofs)
        // The key was in use, so it is never accepted again.
        await #expect(throws: BenchError.refused) { try await fixture.enrol(key: used.entry.key) }
    }
}
