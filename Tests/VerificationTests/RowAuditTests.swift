import Testing

@testable import Verification

@Suite("RowAudit")
struct RowAuditTests {
    /// The findings of an audit of all rows.
    private func findings(_ fixture: VerifierFixture) async throws -> [RowAudit.Finding] {
        var audit = RowAudit(chains: try await fixture.store.chains(), key: fixture.auditKey)
        for event in try await fixture.store.events(after: 0, limit: .max) { audit.take(event) }
        let rows = try await fixture.store.credentials(under: nil, after: nil, limit: .max)
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
        // Codes that are wrong for two credentials, correct for one, spent, and throttled; then the
        // clock is set back.
        for _ in 0..<6 {
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
