import OneTimePassword
import Testing
@testable import Verification
import WatchwordCryptography

/// The codes that a row from a backup may still accept after a restore.
@Suite("Restored rows")
struct RestoreTests {
    @Test("T-10 after a restore, time-based codes that may have been spent are refused")
    func time() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let backup = try #require(try await fixture.store.credential(authenticator.credential))
        // The code is spent after the backup, so the backup does not contain this fact.
        fixture.clock.advance(seconds: 3_600)
        let spent = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(spent).acceptance != nil)
        let restored = try #require(try backup.afterRestoring(at: fixture.clock.now))
        #expect(restored.event.kind == .restored && !restored.isEnded)
        try await rolledBack(restored.row, fixture)
        for steps in -1...1 {
            let code = try authenticator.code(at: fixture.clock.now, steps: steps)
            #expect(try await fixture.verify(code).acceptance == nil)
        }
        let consecutive = try (19...20).map { steps in
            try authenticator.code(at: fixture.clock.now, steps: steps)
        }
        let outcome = try await fixture.verifier.resynchronize(
            authenticator.credential, first: consecutive[0], second: consecutive[1])
        #expect(outcome.acceptance == nil)
        // The last refused step, and the first accepted step.
        fixture.clock.advance(seconds: 21 * 30)
        let last = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(last).acceptance == nil)
        fixture.clock.advance(seconds: 30)
        let first = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(first).acceptance != nil)
    }

    @Test("O-04 after a restore, steps that drift or resynchronisation could reach are refused")
    func drift() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let backup = try #require(try await fixture.store.credential(authenticator.credential))
        func code(_ steps: Int) throws -> PresentedCode {
            try authenticator.code(at: fixture.clock.now, steps: steps)
        }
        for steps in 1...20 {
            fixture.clock.advance(seconds: 86_400)
            #expect(try await fixture.verify(code(steps)).acceptance != nil)
        }
        // The resynchronisation goes from there as far ahead as any request can.
        for steps in [40, 20] {
            _ = try await fixture.verifier.resynchronize(
                authenticator.credential, first: code(steps - 1), second: code(steps))
        }
        let step = try authenticator.step(at: fixture.clock.now)
        var farthest = 0
        for steps in 21...60 {
            if try await fixture.verify(code(steps)).acceptance != nil { farthest = steps }
            _ = try await fixture.verifier.unlock(authenticator.credential)
        }
        #expect(farthest == 21)
        let restored = try #require(try backup.afterRestoring(at: fixture.clock.now))
        let spent = step + UInt64(farthest)
        for _ in 0...farthest {
            try await rolledBack(restored.row, fixture)
            for step in spent - 45...spent {
                let outcome = try await fixture.verify(authenticator.code(step))
                #expect(outcome.acceptance == nil, "step \(step)")
                _ = try await fixture.verifier.unlock(authenticator.credential)
            }
            fixture.clock.advance(seconds: 30)
        }
        #expect(try await fixture.verify(code(0)).acceptance != nil)
    }

    @Test("R-02 a restore revokes HOTP credentials and unconfirmed enrolments")
    func ended() async throws {
        let fixture = try VerifierFixture()
        let counter = try await fixture.enrolled(.counter(0)).credential
        let pending = try await fixture.enrol().credential
        for id in [counter, pending] {
            let row = try #require(try await fixture.store.credential(id))
            let restored = try #require(try row.afterRestoring(at: fixture.clock.now))
            #expect(restored.row.state == .revoked)
            #expect(restored.row.keyID == nil)
            #expect(restored.row.version == row.version + 1)
            // The key cannot be enrolled again, because it may have been in use.
            #expect(restored.row.fingerprint == row.fingerprint)
            #expect(restored.event.kind == .revoked)
            #expect(restored.event.reason == .restored)
            #expect(restored.event.credential == id)
            // A credential that had already ended stays unchanged.
            #expect(try restored.row.afterRestoring(at: fixture.clock.now) == nil)
        }
    }

    @Test("a row with a damaged body is refused")
    func damaged() async throws {
        let fixture = try VerifierFixture()
        let id = try await fixture.enrolled().credential
        var spoiled = try #require(try await fixture.store.credential(id))
        spoiled.body.removeLast()
        let error = #expect(throws: VerifierError.self) {
            try spoiled.afterRestoring(at: fixture.clock.now)
        }
        guard case .damagedRow = error else {
            Issue.record("expected the error damagedRow")
            return
        }
    }

    // Replaces the stored row, regardless of its version.
    private func rolledBack(_ row: CredentialRow, _ fixture: VerifierFixture) async throws {
        let stored = try #require(try await fixture.store.credential(row.id))
        var next = row
        next.version = stored.version + 1
        #expect(try await fixture.store.commit([.updateCredential(next)]) == .done)
    }
}

@Suite("RowAudit")
struct RowAuditTests {
    /// The findings of an audit of all rows.
    private func findings(_ fixture: VerifierFixture) async throws -> [RowAudit.Finding] {
        var audit = RowAudit(chains: try await fixture.store.chains(), key: fixture.auditKey)
        for event in try await fixture.store.events(after: 0, limit: .max) { audit.take(event) }
        let rows = try await fixture.store.credentials(.under(nil, after: nil), limit: .max)
        audit.check(rows.map { AuditedRow.whole($0) })
        audit.check(try await fixture.store.clients().map { AuditedRow.whole($0) })
        return audit.findings()
    }

    @Test("O-02 every write of a credential's row is covered by an event")
    func everyWrite() async throws {
        let fixture = try VerifierFixture()
        let first = try await fixture.enrolled()
        let counter = try await fixture.enrolled(.counter(0))
        _ = try await fixture.enrol()
        _ = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice)
        _ = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice)
        #expect(try await findings(fixture) == [])
        fixture.clock.advance(seconds: 60)
        // The codes are wrong for two credentials, correct for one, spent, or throttled. Then the
        // clock is set back.
        for _ in 0...Policy.failuresUntilWait {
            _ = try await fixture.verify(first.wrongCode(at: fixture.clock.now))
        }
        #expect(try await findings(fixture) == [])
        fixture.clock.advance(seconds: -100_000)
        _ = try await fixture.verify(first.wrongCode(at: fixture.clock.now))
        fixture.clock.advance(seconds: 200_000)
        let code = try first.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code).acceptance != nil)
        #expect(try await fixture.verify(code).denial == .replayed)
        let (next, last) = (try counter.code(5), try counter.code(6))
        _ = try await fixture.verifier.resynchronize(counter.credential, first: next, second: last)
        #expect(try await findings(fixture) == [])
        let device = try await fixture.enrolledDevice()
        _ = try await fixture.login(device, nonce: 1)
        _ = try await fixture.login(device, nonce: 1)
        try await fixture.keys.change { try $0.adding(makingCurrent: true) }
        #expect(try await fixture.verifier.rotateKeys().resealed > 0)
        #expect(try await findings(fixture) == [])
        _ = try await fixture.login(device, nonce: 2)
        _ = try await fixture.verifier.rename(counter.credential, to: "other")
        _ = try await fixture.verifier.unlock(counter.credential)
        _ = try await fixture.verifier.revoke(counter.credential)
        _ = try await fixture.verifier.prune()
        #expect(try await fixture.verifier.closeAccount(of: fixture.alice) > 0)
        let (client, _) = try #require(
            try await fixture.verifier.addClient(named: "shop", scopes: []))
        #expect(try await findings(fixture) == [])
        #expect(try await fixture.verifier.revokeClient(client.id) == .done)
        #expect(try await findings(fixture) == [])
    }

    @Test("O-02 pruned events cause no false findings")
    func pruned() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 1_000)
        _ = try await fixture.store.prune(Pruning(now: nil, eventsBefore: fixture.clock.now))
        #expect(try await fixture.events().isEmpty)
        #expect(try await findings(fixture) == [])
        #expect(
            try await fixture.verify(authenticator.code(at: fixture.clock.now)).acceptance != nil)
        #expect(try await findings(fixture) == [])
    }

    @Test("O-03 an event names the client that sent the request")
    func client() async throws {
        let fixture = try VerifierFixture()
        let client = try #require(ClientID(bytes: [UInt8](repeating: 5, count: 16)))
        let origin = Origin(address: "::1", client: client)
        _ = try await fixture.verifier.verify(
            PresentedCode(text: "123456"), subject: fixture.alice, origin: origin)
        #expect(try await fixture.events().map(\.origin.client) == [client])
    }
}
