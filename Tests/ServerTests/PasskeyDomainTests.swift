import ServiceTranscripts
import TestSupport
import Testing
import VerificationService

/// Passkeys of a relying party with two domains, over HTTP and on both kinds of database.
struct PasskeyDomainTests {
    typealias Database = PasskeyServer.Database

    private static let (old, new) = ("old.example", "mill.example")

    private static func passkey(_ id: UInt8, of domain: String) throws -> TestPasskey {
        var passkey = try TestPasskey(id: [id])
        (passkey.relyingPartyID, passkey.origin) = (domain, "https://\(domain)")
        return passkey
    }

    private static func at(_ domain: String) -> String { #","rp_id":"\#(domain)""# }

    @Test(
        "K-16 over HTTP, a passkey signs in only where it was registered, on the second domain too",
        arguments: Database.possible)
    func domains(database: Database) async throws {
        let (old, new) = (Self.old, Self.new)
        let before = try await PasskeyServer(database, passkeys: .forTests(ids: [old]))
        let (first, second) = (try Self.passkey(1, of: old), try Self.passkey(2, of: new))
        let handle = try await before.driver.register(first).userHandle
        // The same id on both domains, with another key on each.
        let (twin, otherTwin) = (try Self.passkey(3, of: old), try Self.passkey(3, of: new))
        try await before.driver.register(twin)
        let server = try before.restarted(with: .forTests(ids: [new, old]))
        let driver = server.driver
        try await driver.register(second)
        try await driver.register(otherTwin)
        for (passkey, own, other) in [(first, old, new), (second, new, old)] {
            #expect(
                try await driver.signIn(passkey, as: "alice", Self.at(own)).result == "accepted")
            var changed = passkey
            changed.relyingPartyID = other
            #expect(
                try await driver.signIn(changed, as: "alice", Self.at(own)).reason
                    == "relying-party")
            // In a ceremony of the other domain, with the hash of either.
            for passkey in [passkey, changed] {
                #expect(
                    try await driver.signIn(passkey, as: "alice", Self.at(other)).reason
                        == "unknown")
            }
        }
        for (passkey, own, other) in [(twin, old, new), (otherTwin, new, old)] {
            #expect(
                try await driver.signIn(passkey, as: "alice", Self.at(own)).result == "accepted")
            #expect(
                try await driver.signIn(passkey, as: "alice", Self.at(other)).reason
                    == "relying-party")
            var changed = passkey
            changed.relyingPartyID = other
            #expect(
                try await driver.signIn(changed, as: "alice", Self.at(other)).reason
                    == "signature")
        }
        // Pages use the domain of their own address.
        let page = server.driver(onPagesOf: "https://\(old)")
        var person = first
        person.userHandle = handle
        let login = try await page.signInOnPage(person)
        #expect(login.result == "accepted" && login.text("login") != nil)
        #expect(try await driver.signInOnPage(person).result == "denied")
        // A new passkey is for the first domain.
        let late = try Self.passkey(4, of: old)
        let denied = try await driver.finish(try await driver.begin(), late)
        #expect(denied.reason == "relying-party")
        await server.stop()
        await before.stop()
    }

    @Test(
        "K-16 over HTTP, a ceremony of a domain that was removed meanwhile is denied",
        arguments: Database.possible)
    func removed(database: Database) async throws {
        let (old, new) = (Self.old, Self.new)
        let before = try await PasskeyServer(database, passkeys: .forTests(ids: [old, new]))
        var passkey = try Self.passkey(1, of: old)
        // An origin that stays configured.
        passkey.origin = "https://\(new)"
        try await before.driver.register(passkey)
        #expect(try await before.driver.signIn(passkey).result == "accepted")
        let ceremony = try await before.driver.beginCeremony()
        let server = try before.restarted(with: .forTests(ids: [new]))
        #expect(try await server.driver.finish(ceremony, passkey).reason == "relying-party")
        await server.stop()
        await before.stop()
    }

    @Test(
        "K-01 over HTTP, an Android app is an origin if it is configured, as exact text",
        arguments: Database.possible)
    func apps(database: Database) async throws {
        let app = "android:apk-key-hash:3Rwcq9qmsWzAELsYDQtVffBTPrzDYHzGziieeqJCCys"
        let server = try await PasskeyServer(database, passkeys: .forTests(apps: [app]))
        var passkey = try TestPasskey()
        passkey.origin = app
        try await server.driver.register(passkey)
        for (origin, reason) in [
            (app, nil), (app.replacing("3Rw", with: "3rw"), "origin"), (app + "=", "origin"),
            (app.replacing("android", with: "ios"), "origin"), (String(app.dropLast()), "origin"),
        ] as [(String, String?)] {
            passkey.origin = origin
            #expect(try await server.driver.signIn(passkey).reason == reason, "\(origin)")
        }
        await server.stop()
    }
}
