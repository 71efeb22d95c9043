import Testing

@testable import Verification

@Suite("RowAudit")
struct RowAuditTests {
    /// The findings of an audit of all rows.
    private func findings(_ bench: TestBench) async throws -> [RowAudit.Finding] {
        var audit = RowAudit(chains: try await bench.store.chains(), key: bench.auditKey)
        for event in try await bench.store.events(after: 0, limit: .max) { audit.take(event) }
        let rows = try await bench.store.credentials(under: nil, after: nil, limit: .max)
        try audit.check(rows.map { AuditedRow.whole($0) })
        try audit.check(try await bench.store.clients().map { AuditedRow.whole($0) })
        return audit.findings()
    }

    @Test("O-02 every write of a credential's row is covered by an event")
    func everyWrite() async throws {
        let bench = try TestBench()
        let first = try await bench.enrolled()
        let counter = try await bench.enrolled(.counter(0))
        _ = try await bench.enrol()
        _ = try await bench.verifier.enrolRecoveryCodes(for: bench.alice)
        _ = try await bench.verifier.enrolRecoveryCodes(for: bench.alice)
        #expect(try await findings(bench) == [])
        bench.clock.advance(seconds: 60)
        // Wrong for two credentials, correct for one, spent, and throttled; then the clock goes
        // back.
        for _ in 0..<6 {
            _ = try await bench.verify(first.wrongCode(at: bench.clock.now))
        }
        #expect(try await findings(bench) == [])
        bench.clock.advance(seconds: -100_000)
        _ = try await bench.verify(first.wrongCode(at: bench.clock.now))
        bench.clock.advance(seconds: 200_000)
        let code = try first.code(at: bench.clock.now)
        #expect(try await bench.verify(code).acceptance != nil)
        #expect(try await bench.verify(code).denial == .replayed)
        let (next, last) = (try counter.code(5), try counter.code(6))
        _ = try await bench.verifier.resynchronize(counter.credential, first: next, second: last)
        #expect(try await findings(bench) == [])
        let device = try await bench.enrolledDevice()
        _ = try await bench.login(device, nonce: 1)
        _ = try await bench.login(device, nonce: 1)
        try await bench.keys.change { try $0.adding(makingCurrent: true) }
        #expect(try await bench.verifier.rotateKeys().resealed > 0)
        #expect(try await findings(bench) == [])
        _ = try await bench.login(device, nonce: 2)
        _ = try await bench.verifier.rename(counter.credential, to: "other")
        _ = try await bench.verifier.unlock(counter.credential)
        _ = try await bench.verifier.revoke(counter.credential)
        _ = try await bench.verifier.prune()
        #expect(try await bench.verifier.closeAccount(of: bench.alice) > 0)
        let (client, _) = try #require(
            try await bench.verifier.addClient(named: "shop", scopes: []))
        #expect(try await findings(bench) == [])
        #expect(try await bench.verifier.revokeClient(client.id) == .done)
        #expect(try await findings(bench) == [])
    }

    @Test("O-02 pruned events cause no false findings")
    func pruned() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        bench.clock.advance(seconds: 1_000)
        _ = try await bench.store.prune(Pruning(now: nil, eventsBefore: bench.clock.now))
        #expect(try await bench.events().isEmpty)
        #expect(try await findings(bench) == [])
        #expect(
            try await bench.verify(authenticator.code(at: bench.clock.now)).acceptance != nil)
        #expect(try await findings(bench) == [])
    }

    @Test("O-03 an event names the client that sent the request")
    func client() async throws {
        let bench = try TestBench()
        let client = try #require(ClientID(bytes: [UInt8](repeating: 5, count: 16)))
        let origin = Origin(address: "::1", client: client)
        _ = try await bench.verifier.verify(
            PresentedCode(text: "123456"), subject: bench.alice, origin: origin)
        #expect(try await bench.events().map(\.origin.client) == [client])
    }
}
