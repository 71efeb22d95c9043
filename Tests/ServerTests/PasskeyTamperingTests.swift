import ServiceTranscripts
import TestSupport
import Testing

/// Passkeys in a database to which an attacker can write.
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
}
