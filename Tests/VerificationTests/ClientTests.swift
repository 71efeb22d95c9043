import TestSupport
import Testing
@testable import Verification
import WatchwordCryptography

@Suite("Clients")
struct ClientTests {
    @Test("V-25 V-03 an API key identifies its client until the client is revoked")
    func keys() async throws {
        let fixture = try VerifierFixture()
        #expect(try await fixture.verifier.clients() == [])
        let (client, key) = try #require(
            try await fixture.verifier.addClient(
                named: "shop", scopes: ["verify", "enrol", "verify"]))
        #expect(client.scopes == ["enrol", "verify"])
        #expect(try await fixture.verifier.client(presenting: key) == client)
        let other = Token(.clientKey, Randomness.secret(count: 32))
        #expect(try await fixture.verifier.client(presenting: other) == nil)
        #expect(!client.digest.contains(key.bytes.known[...]))
        #expect(try await fixture.verifier.revokeClient(client.id) == .done)
        #expect(try await fixture.verifier.revokeClient(client.id) == .done)
        #expect(try await fixture.verifier.client(presenting: key) == nil)
        #expect(try await fixture.verifier.clients().map(\.name) == ["shop"])
        #expect(try await fixture.verifier.revokeClient([1]) == .unknown)
        // Each event contains the client and the written version of its row.
        let events = try await fixture.store.events(after: 0, limit: 10).compactMap(\.recorded)
        #expect(events.map(\.event.kind) == [.clientAdded, .clientRevoked])
        #expect(events.allSatisfy { $0.event.origin.client == ClientID(bytes: client.id) })
        #expect(events.flatMap(\.rows).map(\.owner) == [.client(client.id), .client(client.id)])
        #expect(events.flatMap(\.rows).map(\.version) == [1, 2])
    }

    @Test("V-03 renewing a client changes only its key, and the old key stops working at once")
    func renewal() async throws {
        let fixture = try VerifierFixture()
        let (client, key) = try #require(
            try await fixture.verifier.addClient(named: "shop", scopes: ["verify"]))
        guard
            case .renewed(let renewed, let newKey) = try await fixture.verifier.renewClient(
                client.id)
        else {
            Issue.record("not renewed")
            return
        }
        #expect(try await fixture.verifier.client(presenting: key) == nil)
        #expect(try await fixture.verifier.client(presenting: newKey) == renewed)
        #expect(try await fixture.verifier.clients() == [renewed])
        #expect(renewed.digest != client.digest)
        #expect(
            renewed
                == ClientRow(
                    id: client.id, version: 2, digest: renewed.digest, name: "shop",
                    scopes: ["verify"], createdAt: client.createdAt, revokedAt: nil))
        let event = try #require(try await fixture.verifier.events(after: 0, limit: 9).last?.event)
        #expect(event.kind == .clientRenewed)
        #expect(event.origin.client?.bytes == client.id)
    }

    @Test("a revoked or unknown client cannot be renewed")
    func noRenewal() async throws {
        let fixture = try VerifierFixture()
        let (client, key) = try #require(
            try await fixture.verifier.addClient(named: "shop", scopes: []))
        #expect(try await fixture.verifier.revokeClient(client.id) == .done)
        let before = try await fixture.verifier.clients()
        for (id, isRevoked) in [(client.id, true), ([1], false)] {
            switch try await fixture.verifier.renewClient(id) {
            case .revoked: #expect(isRevoked)
            case .unknown: #expect(!isRevoked)
            case .renewed: Issue.record("renewed")
            }
        }
        #expect(try await fixture.verifier.clients() == before)
        #expect(try await fixture.verifier.client(presenting: key) == nil)
        let kinds = try await fixture.verifier.events(after: 0, limit: 9).map(\.event?.kind)
        #expect(kinds == [.clientAdded, .clientRevoked])
    }

    @Test("after fifty concurrent renewals, only one key works")
    func renewals() async throws {
        let fixture = try VerifierFixture()
        let (client, _) = try #require(
            try await fixture.verifier.addClient(named: "shop", scopes: []))
        let keys = try await withThrowingTaskGroup(of: Token?.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    guard
                        case .renewed(_, let key) = try await fixture.verifier.renewClient(
                            client.id)
                    else { return nil }
                    return key
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.compactMap { $0 }
        }
        #expect(keys.count == 50)
        var working = 0
        for key in keys where try await fixture.verifier.client(presenting: key) != nil {
            working += 1
        }
        #expect(working == 1)
        #expect(try await fixture.verifier.clients().map(\.version) == [51])
    }

    @Test("of fifty concurrent attempts to add a client under one name, one succeeds")
    func names() async throws {
        let fixture = try VerifierFixture()
        for round in 1...3 {
            let added = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await fixture.verifier.addClient(named: "shop", scopes: []) != nil
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(added == 1)
            let clients = try await fixture.verifier.clients()
            #expect(clients.count == round)
            // A name can be reused once its client is revoked.
            for client in clients { _ = try await fixture.verifier.revokeClient(client.id) }
        }
    }

    /// A key without a mark, as older versions issued it, replaces the client's own key.
    private func unmarked(_ client: ClientRow, in fixture: VerifierFixture) async throws -> Token {
        let key = Token(.clientKey, Randomness.secret(count: 32))
        let lookup = await fixture.keys.ring.lookup
        let row = ClientRow(
            id: client.id, version: client.version + 1,
            digest: lookup.digest(of: key.bytes, as: .clientKey), name: client.name,
            scopes: client.scopes, createdAt: client.createdAt, revokedAt: nil)
        #expect(try await fixture.store.commit([.updateClient(row)]) == .done)
        return key
    }

    @Test("a made-up API key causes no database read, regardless of its secret and its mark")
    func madeUp() async throws {
        let fixture = try VerifierFixture()
        let (_, key) = try #require(
            try await fixture.verifier.addClient(named: "shop", scopes: []))
        #expect(key.text.count == 4 + 64)
        let bytes = key.bytes.known
        _ = await fixture.store.takeCalls()
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1
            let made = Token(.clientKey, SecretBytes(copying: other.span))
            #expect(try await fixture.verifier.client(presenting: made) == nil)
        }
        // The mark was made with a different key file.
        let foreign = try KeyRing.make().lookup.marking(
            clientKey: SecretBytes(copying: Array(bytes.prefix(32)).span))
        let other = Token(.clientKey, foreign)
        #expect(try await fixture.verifier.client(presenting: other) == nil)
        #expect(await fixture.store.takeCalls() == [])
        #expect(try await fixture.verifier.client(presenting: key)?.name == "shop")
        #expect(await fixture.store.takeCalls() == [.readClient])
    }

    @Test("a key of an older version stays valid, even for a sender of many invalid keys")
    func olderKeys() async throws {
        let fixture = try VerifierFixture()
        let (client, _) = try #require(
            try await fixture.verifier.addClient(named: "shop", scopes: []))
        let key = try await unmarked(client, in: fixture)
        #expect(key.text.count == 4 + 43)
        let made = Token(.clientKey, Randomness.secret(count: 32))
        _ = await fixture.store.takeCalls()
        for second in 0..<3 {
            for _ in 0..<20 {
                let found = try await fixture.verifier.client(presenting: made, isLimited: true)
                #expect(found == nil)
            }
            // The database is read once in a second.
            #expect(await fixture.store.takeCalls() == [.readClients], "\(second)")
            let right = try await fixture.verifier.client(presenting: key, isLimited: true)
            #expect(right?.id == client.id)
            #expect(await fixture.store.takeCalls() == [.readClient])
            fixture.clock.advance(seconds: second == 1 ? -5 : 1)
        }
        // Within the limit of invalid keys, and after a revocation, the row decides.
        #expect(try await fixture.verifier.client(presenting: made) == nil)
        #expect(await fixture.store.takeCalls() == [.readClient])
        _ = try await fixture.verifier.revokeClient(client.id)
        #expect(try await fixture.verifier.client(presenting: key, isLimited: true) == nil)
    }

    @Test("an API key survives a rotation of the key ring")
    func rotation() async throws {
        let fixture = try VerifierFixture()
        let (client, key) = try #require(
            try await fixture.verifier.addClient(named: "shop", scopes: []))
        let first = try #require(KeyID(1))
        try await fixture.keys.change { try $0.adding(makingCurrent: true).retiring(first) }
        #expect(try await fixture.verifier.client(presenting: key)?.id == client.id)
    }
}

@Suite("Audience of logins")
struct AudienceTests {
    private func client(_ name: String, _ fixture: VerifierFixture) async throws -> ClientID {
        let added = try #require(
            try await fixture.verifier.addClient(named: name, scopes: ["verify"]))
        return try #require(ClientID(bytes: added.client.id))
    }

    /// A login ticket of a device that was enrolled for this audience.
    private func ticket(_ audience: Set<ClientID>, _ fixture: VerifierFixture) async throws -> Token
    {
        let grant = try await fixture.verifier.enrolSecret(for: fixture.alice, audience: audience)
            .granted()
        let secret = try #require(try await fixture.verifier.redeemEnrolment(grant.ticket).value)
        let device = TestDevice(credential: secret.credential, secret: secret.secret)
        return try #require(try await fixture.login(device, nonce: 1).acceptance).login
    }

    @Test("O-09 only its audience can redeem a login ticket, and a denial does not spend it")
    func audience() async throws {
        let fixture = try VerifierFixture()
        let shop = try await client("shop", fixture)
        let mill = try await client("mill", fixture)
        let other = try await client("other", fixture)
        for audience in [[shop], [shop, mill]] as [Set<ClientID>] {
            for redeemer in audience {
                let ticket = try await ticket(audience, fixture)
                for stranger in [other, nil] {
                    let outcome = try await fixture.verifier.redeemLogin(ticket, by: stranger)
                    #expect(outcome.value == nil)
                    #expect(try await fixture.events().last?.reason == .otherAudience)
                }
                let outcome = try await fixture.verifier.redeemLogin(ticket, by: redeemer)
                #expect(outcome.value?.subject == fixture.alice)
                #expect(
                    try await fixture.verifier.redeemLogin(ticket, by: redeemer).value == nil)
            }
        }
    }

    @Test("O-09 an audience with unknown, revoked or too many clients is refused")
    func unknown() async throws {
        let fixture = try VerifierFixture()
        let shop = try await client("shop", fixture)
        let revoked = try await client("mill", fixture)
        #expect(try await fixture.verifier.revokeClient(revoked.bytes) == .done)
        let none = try #require(ClientID(bytes: [UInt8](repeating: 0, count: ClientID.count)))
        var many: Set<ClientID> = []
        for number in 0...Policy.maximumAudience {
            many.insert(try await client("\(number)", fixture))
        }
        for audience in [[none], [revoked], [shop, none], many] as [Set<ClientID>] {
            let outcome = try await fixture.verifier.enrolSecret(
                for: fixture.alice, audience: audience)
            guard case .refused(.unknownClient) = outcome else {
                Issue.record("the enrolment was granted")
                return
            }
        }
        #expect(try await fixture.verifier.credentials(of: fixture.alice).credentials.isEmpty)
    }
}
