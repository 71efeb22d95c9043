import ServiceTranscripts
import TestSupport
import Testing
import Verification
import VerificationService
import WatchwordCryptography

/// What a verifier of passkeys must refuse, over HTTP and on both kinds of database.
///
/// Beside each change, the ceremony without it is accepted.
struct PasskeyCaseTests {
    typealias Database = PasskeyServer.Database

    @Test(
        "K-01 K-07 K-14 K-16 K-17 K-18 K-20 K-23 K-25 K-26 K-27 K-28 K-29 K-30 K-32 K-33 K-34 K-35 K-36 K-41 K-42 K-43 K-44 K-45 K-46 K-47 K-48 K-49 K-61 K-62 over HTTP, each change to a good registration is denied",
        arguments: Database.possible)
    func registrations(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        for (number, instance) in (PasskeyCase.both + PasskeyCase.registrations).enumerated() {
            let subject = "r\(number)"
            let good = try TestPasskey(id: [1, UInt8(number)])
            var bad = try TestPasskey(id: [2, UInt8(number)])
            instance.change(&bad)
            let denied = try await driver.finish(try await driver.begin(subject), bad)
            Self.expect(denied, instance)
            #expect(
                try await driver.finish(try await driver.begin(subject), good).result == "accepted",
                "beside \(instance.name)")
        }
        await server.stop()
    }

    @Test(
        "K-02 K-08 K-10 K-14 K-16 K-17 K-18 K-20 K-23 K-25 K-26 K-27 K-37 K-38 K-41 K-42 K-43 K-44 K-45 K-46 K-47 K-48 K-54 over HTTP, each change to a good authentication is denied, and spends the challenge",
        arguments: Database.possible)
    func authentications(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        for (number, instance) in (PasskeyCase.both + PasskeyCase.authentications).enumerated() {
            let subject = "a\(number)"
            let good = try TestPasskey(id: [3, UInt8(number)])
            try await driver.register(good, for: subject)
            var bad = good
            instance.change(&bad)
            let ceremony = try await driver.beginCeremony(for: subject)
            Self.expect(try await driver.finish(ceremony, bad), instance)
            // A request that is refused for its form spends nothing; a denial spends the challenge.
            let again = try await driver.finish(ceremony, good)
            #expect(
                again.result == (instance.reason == nil ? "accepted" : "denied"),
                "after \(instance.name)")
            #expect(instance.reason == nil || again.reason == "challenge")
            #expect(
                try await driver.signIn(good, as: subject).result == "accepted",
                "beside \(instance.name)")
        }
        await server.stop()
    }

    @Test(
        "K-26 K-27 K-39 over HTTP, a change that is permitted is accepted",
        arguments: Database.possible)
    func permitted(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        for (number, instance) in PasskeyCase.accepted.enumerated() {
            var passkey = try TestPasskey(id: [4, UInt8(number)])
            instance.change(&passkey)
            let begun = try await driver.begin("p\(number)")
            #expect(
                try await driver.finish(begun, passkey).result == "accepted", "\(instance.name)")
            #expect(
                try await driver.signIn(passkey, as: "p\(number)").result == "accepted",
                "\(instance.name)")
        }
        var passkey = try TestPasskey()
        try await driver.register(passkey)
        PasskeyCase.mirrored.change(&passkey)
        #expect(try await driver.signIn(passkey).result == "accepted")
        await server.stop()
    }

    private static func expect(_ reply: PasskeyDriver.Reply, _ instance: PasskeyCase) {
        guard let reason = instance.reason else {
            #expect(reply.status == 400 && reply.problem == "invalid-field", "\(instance.name)")
            return
        }
        #expect(reply.status == 200 && reply.result == "denied", "\(instance.name)")
        #expect(reply.reason == reason.ceremonyName, "\(instance.name)")
    }
}
