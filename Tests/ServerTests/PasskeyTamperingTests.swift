import ServiceTranscripts
import Synchronization
import TestSupport
import Testing
import Verification
import WatchwordCryptography

/// Passkeys and device keys in a database to which an attacker can write.
struct PasskeyTamperingTests {
    @Test(
        "K-81 over HTTP, a passkey that was swapped between rows, or in which a bit changed, is not used",
        arguments: PasskeyServer.Database.possible)
    func swapped(database: PasskeyServer.Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        var (hers, his) = (try TestPasskey(id: [1]), try TestPasskey(id: [2]))
        let registration = try await driver.register(hers)
        let alice = registration.credential
        let mallory = try await driver.register(his, for: "mallory").credential
        let (own, other) = (try await server.row(alice), try await server.row(mallory))
        hers.userHandle = registration.userHandle
        // Mallory's key for Alice's id, with and without its authentication.
        (his.statedID, his.userHandle) = (hers.id, hers.userHandle)
        for row in [other, (other.body, own.authentication)] {
            try await server.write(row, to: alice)
            for passkey in [his, hers] {
                let reply = try await driver.signIn(passkey, as: nil)
                #expect(reply.status == 503 && reply.problem == "unavailable")
            }
        }
        for position in stride(from: 0, to: own.body.count, by: max(1, own.body.count / 8)) {
            var changed = own
            changed.body[position] ^= 1
            try await server.write(changed, to: alice)
            #expect(try await driver.signIn(hers, as: nil).status == 503, "\(position)")
        }
        try await server.write(own, to: alice)
        #expect(try await driver.signIn(hers, as: nil).result == "accepted")
        await server.stop()
    }

    typealias Row = (body: [UInt8], authentication: [UInt8])

    /// The row with the body of a different row, or under the key of a different row, and with a
    /// changed bit at nine places.
    private static func changes(of own: Row, and other: Row) -> [Row] {
        let places = stride(from: 0, to: own.body.count, by: max(1, own.body.count / 8))
        return [other, (other.body, own.authentication)]
            + places.map { position in
                var changed = own
                changed.body[position] ^= 1
                return changed
            }
    }

    @Test(
        "K-81 over HTTP, a device key that was swapped between rows, or in which a bit changed, is not used",
        arguments: PasskeyServer.Database.possible)
    func deviceKeys(database: PasskeyServer.Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        let (hers, his) = (try SampleDeviceKey("alice"), try SampleDeviceKey("mallory"))
        let alice = try await driver.register(hers, for: "alice")
        let mallory = try await driver.register(his, for: "mallory")
        let (own, other) = (try await server.row(alice), try await server.row(mallory))
        for changed in Self.changes(of: own, and: other) {
            try await server.write(changed, to: alice)
            for key in [his, hers] {
                let challenge = try await driver.challenge(alice)
                let reply = try await driver.finish(challenge, key, of: alice)
                #expect(reply.status == 503 && reply.problem == "unavailable")
            }
        }
        try await server.write(own, to: alice)
        #expect(try await driver.signIn(hers, of: alice).result == "accepted")
        await server.stop()
    }

    @Test(
        "K-81 over HTTP, a key in a TPM is not activated after its pending row changed",
        arguments: PasskeyServer.Database.possible)
    func activations(database: PasskeyServer.Database) async throws {
        // The secrets that only the TPM could reveal.
        let secrets = Mutex<[String]>([])
        let system = RandomSource.system
        let randomness = RandomSource(
            bytes: system.bytes,
            secret: { count in
                let secret = system.secret(count)
                let bytes = secret.withBytes { [UInt8](copying: $0) }
                secrets.withLock { $0.append(Base64URL.encode(bytes.span)) }
                return secret
            })
        let server = try await PasskeyServer(
            database, tpmRoots: try TestEvidence.root(), randomness: randomness)
        let driver = server.driver
        /// A key that waits for its activation, and the secret.
        func pending(_ subject: String) async throws -> (credential: String, secret: String) {
            let ticket = try await driver.keyTicket(for: subject)
            let reply = try await driver.registerKey(TestEvidence().registration(ticket))
            let secret = secrets.withLock { $0.last }
            return (try PasskeyDriver.member("credential", reply), try #require(secret))
        }
        let (alice, mallory) = (try await pending("alice"), try await pending("mallory"))
        let own = try await server.row(alice.credential)
        let other = try await server.row(mallory.credential)
        for changed in Self.changes(of: own, and: other) {
            try await server.write(changed, to: alice.credential)
            for secret in [alice.secret, mallory.secret] {
                let reply = try await driver.activate(alice.credential, secret)
                #expect(reply.status == 503 && reply.problem == "unavailable")
            }
        }
        try await server.write(own, to: alice.credential)
        #expect(try await driver.activate(alice.credential, mallory.secret).result == "denied")
        #expect(try await driver.activate(alice.credential, alice.secret).result == "accepted")
        await server.stop()
    }

    @Test(
        "K-81 over HTTP, a challenge is not used after its row changed",
        arguments: PasskeyServer.Database.possible)
    func challenges(database: PasskeyServer.Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        let (passkey, key) = (try TestPasskey(), try SampleDeviceKey("alice"))
        try await driver.register(passkey)
        let credential = try await driver.register(key, for: "alice")
        // A ceremony of a different subject, which is denied so that its row is deleted.
        let foreign = try await driver.beginCeremony(for: "mallory")
        let other = try #require(try await server.rows("challenges").first)
        _ = try await driver.finish(foreign, passkey)
        let ceremony = try await driver.beginCeremony()
        let own = try #require(try await server.rows("challenges").first)
        for changed in Self.changes(of: own, and: other) {
            try await server.write(changed, "challenges")
            #expect(try await driver.finish(ceremony, passkey).status == 503)
        }
        // A later deadline.
        try await server.write(own, "challenges")
        try await server.change("challenges SET expires_at = expires_at + 600000")
        #expect(try await driver.finish(ceremony, passkey).status == 503)
        try await server.change("challenges SET expires_at = expires_at - 600000")
        #expect(try await driver.finish(ceremony, passkey).result == "accepted")
        // A challenge for a device key has a shorter body.
        let challenge = try await driver.challenge(credential)
        let short = try #require(try await server.rows("challenges").first)
        for changed in Self.changes(of: short, and: own) {
            try await server.write(changed, "challenges")
            #expect(try await driver.finish(challenge, key, of: credential).status == 503)
        }
        try await server.write(short, "challenges")
        #expect(try await driver.finish(challenge, key, of: credential).result == "accepted")
        await server.stop()
    }
}
