import Cryptography
import TestSupport
import Testing

@testable import Verification

@Suite("Restored from a backup")
struct RestoringTests {
    /// A bench whose store is a copy of `rows` as they were.
    private func restored(
        _ bench: TestBench, _ rows: [CredentialRow]
    ) async throws -> Verifier {
        let store = MemoryStore(node: [UInt8](repeating: 2, count: 16), key: bench.auditKey)
        for row in rows {
            let first = CredentialRow(
                id: row.id, subject: row.subject, kind: row.kind, state: row.state, version: 1,
                keyID: row.keyID, fingerprint: row.fingerprint, createdAt: row.createdAt,
                lapsesAt: row.lapsesAt, body: row.body)
            #expect(try await store.commit([.insertCredential(first)]) == .done)
        }
        let clock = bench.clock
        let keys = bench.keys
        return Verifier(store: store, clock: { clock.now }, keys: { await keys.ring })
    }

    private func rows(_ bench: TestBench) async throws -> [CredentialRow] {
        try await bench.store.credentials(under: nil, after: nil, limit: .max)
    }

    @Test("T-10 a code that was spent after the backup is not good again after the restore")
    func time() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        bench.clock.advance(seconds: 300)
        let backup = try await rows(bench)
        let ahead = try authenticator.code(at: bench.clock.now, steps: 1)
        #expect(try await bench.verify(ahead).acceptance != nil)
        let verifier = try await restored(bench, backup)
        #expect(try await verifier.settleRestored() == 0)
        for steps in -1...1 {
            let code = try authenticator.code(at: bench.clock.now, steps: steps)
            #expect(try await verifier.verify(code, subject: bench.alice).acceptance == nil)
        }
        bench.clock.advance(seconds: 60)
        let code = try authenticator.code(at: bench.clock.now)
        #expect(try await verifier.verify(code, subject: bench.alice).acceptance != nil)
    }

    @Test("N-18 what can't be known to be unspent ends: counters, recovery codes, secrets, pending")
    func others() async throws {
        let bench = try TestBench()
        let bob = try #require(Subject("bob"))
        let counter = try await bench.enrolled(.counter(0))
        let pending = try await bench.enrol(for: bob)
        let device = try await bench.enrolledDevice()
        let recovery = try await bench.verifier.enrolRecoveryCodes(for: bob)
        guard case .granted(let grant) = recovery else { throw BenchError.refused }
        let backup = try await rows(bench)
        let login = try #require(try await bench.login(device, nonce: 1).acceptance)
        let verifier = try await restored(bench, backup)
        #expect(try await verifier.settleRestored() == 4)
        #expect(
            try await verifier.verify(counter.code(1), subject: bench.alice).denial == .disabled)
        #expect(
            try await verifier.verify(PresentedCode(grant.codes[0]), subject: bob).denial
                == .unknown)
        #expect(
            try await verifier.confirm(
                pending.credential, code: pending.code(at: bench.clock.now)
            ).denial == .unknown)
        for secret in [device.secret, login.secret] {
            let nonce = try #require(RotationNonce(bytes: [UInt8](repeating: 9, count: 16)))
            let outcome = try await verifier.login(
                device.credential, secret: secret, nonce: nonce)
            #expect(outcome.wipe == .revoked, "the device enrols anew")
        }
        #expect(try await verifier.settleRestored() == 0, "it may be done again")
    }
}

@Suite("Clients")
struct ClientTests {
    @Test("V-25 V-03 an API key tells its client until it is revoked; there is none at first")
    func keys() async throws {
        let bench = try TestBench()
        #expect(try await bench.verifier.clients() == [])
        let (client, key) = try await bench.verifier.addClient(
            named: "shop", scopes: ["verify", "enrol", "verify"])
        #expect(client.scopes == ["enrol", "verify"])
        #expect(try await bench.verifier.client(presenting: key) == client)
        let other = Token(.clientKey, try Randomness.secret(count: 32))
        #expect(try await bench.verifier.client(presenting: other) == nil)
        #expect(!client.digest.contains(key.bytes.known[...]))
        #expect(try await bench.verifier.revokeClient(client.id) == .done)
        #expect(try await bench.verifier.revokeClient(client.id) == .done)
        #expect(try await bench.verifier.client(presenting: key) == nil)
        #expect(try await bench.verifier.clients().map(\.name) == ["shop"])
        #expect(try await bench.verifier.revokeClient([1]) == .unknown)
    }

    @Test("a key outlasts a rotation of the others")
    func rotation() async throws {
        let bench = try TestBench()
        let (client, key) = try await bench.verifier.addClient(named: "shop", scopes: [])
        let first = try #require(KeyID(1))
        try await bench.keys.change { try $0.adding(makingCurrent: true).retiring(first) }
        #expect(try await bench.verifier.client(presenting: key)?.id == client.id)
    }
}
