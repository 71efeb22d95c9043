import ServiceTranscripts
import TestSupport
import Testing

/// Spent challenges whose rows an attacker puts back into the database.
struct SpentChallengeTests {
    @Test(
        "K-09 over HTTP, the challenge of a passkey stays spent when its row is put back",
        arguments: PasskeyServer.Database.possible)
    func passkey(database: PasskeyServer.Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        let passkey = try TestPasskey(id: [1])
        try await driver.register(passkey)
        let (first, second) = (
            try await driver.beginCeremony(), try await driver.beginCeremony()
        )
        try await server.copyChallenges()
        // Two ceremonies at the same time, and the second one ends first.
        #expect(try await driver.finish(second, passkey).result == "accepted")
        #expect(try await driver.finish(first, passkey).result == "accepted")
        try await server.putBackChallenges()
        for ceremony in [first, second] {
            let reply = try await driver.finish(ceremony, passkey)
            #expect(reply.result == "denied" && reply.reason == "challenge")
        }
        #expect(try await driver.signIn(passkey).result == "accepted")
        await server.stop()
    }

    @Test(
        "K-09 over HTTP, the challenge of a device key stays spent when its row is put back",
        arguments: PasskeyServer.Database.possible)
    func deviceKey(database: PasskeyServer.Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        let key = try SampleDeviceKey("alice")
        let credential = try await driver.register(key, for: "alice")
        let challenge = try await driver.challenge(credential)
        try await server.copyChallenges()
        #expect(try await driver.finish(challenge, key, of: credential).result == "accepted")
        try await server.putBackChallenges()
        #expect(try await driver.finish(challenge, key, of: credential).result == "denied")
        #expect(try await driver.signIn(key, of: credential).result == "accepted")
        await server.stop()
    }
}
