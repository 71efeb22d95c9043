import Foundation
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography

/// What a verifier of passkeys must refuse in a sequence of requests, over HTTP and on both kinds
/// of database.
struct PasskeyCeremonyTests {
    typealias Database = PasskeyServer.Database

    @Test(
        "K-09 K-10 K-12 K-13 over HTTP, a challenge is good for one decision, of its own client",
        arguments: Database.possible)
    func challenges(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        let passkey = try TestPasskey()
        try await driver.register(passkey)
        let ceremony = try await driver.beginCeremony()
        #expect(try await driver.finish(ceremony, passkey).result == "accepted")
        #expect(try await driver.finish(ceremony, passkey).reason == "challenge")
        // Another client's attempt does not spend the challenge.
        let second = try await driver.beginCeremony()
        let other = try await server.driver(as: "verify").finish(second, passkey)
        #expect(other.result == "denied")
        // A page's attempt neither.
        let response = try passkey.signedJSON(second.challenge)
        let page = try await driver.send(
            .page, "/v1/browser/assertions",
            #"{"ceremony":"\#(second.token)","response":\#(response)}"#)
        #expect(page.result == "denied" && page.text("login") == nil)
        // Another ceremony's challenge: a live one is named, an old one is signed.
        let third = try await driver.beginCeremony()
        let mixed = PasskeyDriver.Ceremony(
            token: third.token, challenge: second.challenge, options: nil)
        #expect(try await driver.finish(mixed, passkey).reason == "challenge")
        #expect(try await driver.finish(third, passkey).reason == "challenge")
        #expect(try await driver.finish(second, passkey).result == "accepted")
        // Another subject's ceremony.
        let bobs = try await driver.beginCeremony(for: "bob")
        #expect(try await driver.finish(bobs, passkey).reason == "unknown")
        // Another registration's challenge.
        let (first, later) = (try await driver.begin(), try await driver.begin())
        let crossed = PasskeyDriver.Registration(
            credential: first.credential, challenge: later.challenge, userHandle: [], options: nil)
        let fresh = try TestPasskey(id: [1])
        #expect(try await driver.finish(crossed, fresh).reason == "challenge")
        #expect(try await driver.finish(later, fresh).result == "accepted")
        await server.stop()
    }

    @Test(
        "K-11 over HTTP, a challenge is accepted until its last millisecond",
        arguments: Database.possible)
    func expiry(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        let passkey = try TestPasskey()
        try await driver.register(passkey)
        for (more, life) in [("", 300_000), (#","conditional":true"#, 600_000)] as [(String, Int64)]
        {
            for (wait, reason) in [(life - 1, nil), (life, "expired")] as [(Int64, String?)] {
                let ceremony = try await driver.beginCeremony(for: "alice", more)
                server.fixture.clock.advance(milliseconds: wait)
                #expect(try await driver.finish(ceremony, passkey).reason == reason)
            }
        }
        for (wait, reason) in [(599_999, nil), (600_000, "expired")] as [(Int64, String?)] {
            let begun = try await driver.begin()
            server.fixture.clock.advance(milliseconds: wait)
            let reply = try await driver.finish(begun, TestPasskey(id: [UInt8(wait % 256), 1]))
            #expect(reply.reason == reason)
        }
        await server.stop()
    }

    @Test(
        "K-18 K-19 K-22 over HTTP, the policy decides, and nothing in a response changes it",
        arguments: Database.possible)
    func policies(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        var passkey = try TestPasskey()
        try await driver.register(passkey)
        passkey.flags = 0x01
        #expect(try await driver.signIn(passkey).reason == "user-verification")
        let lax = #","policy":{"user_verification":"preferred"}"#
        let accepted = try await driver.signIn(passkey, as: "alice", lax)
        #expect(accepted.result == "accepted" && accepted.json?["user_verified"]?.truth == false)
        let ceremony = try await driver.beginCeremony()
        #expect(try await driver.finish(ceremony, passkey, lax).problem == "unknown-field")
        #expect(try await driver.finish(ceremony, passkey).reason == "user-verification")
        // A passkey that can be synced.
        let bound = #","policy":{"backup":"device-bound"}"#
        var synced = try TestPasskey(id: [2])
        synced.flags = 0x0d
        let begun = try await driver.begin("alice", bound)
        #expect(try await driver.finish(begun, synced).reason == "not-device-bound")
        try await driver.register(synced)
        let denied = try await driver.signIn(synced, as: "alice", bound)
        #expect(denied.reason == "not-device-bound")
        // The first verification of the user after a registration without one.
        var third = try TestPasskey(id: [3])
        third.flags = 0x01
        try await driver.register(third, for: "bob", lax)
        third.flags = 0x05
        let first = try await driver.signIn(third, as: "bob")
        #expect(first.result == "step-up")
        #expect(
            first.json?["step_up"]?.elements?.compactMap(\.string) == ["first-verification"])
        await server.stop()
    }

    @Test(
        "K-21 K-56 over HTTP, backup flags and counters have the result that the policy says",
        arguments: Database.possible)
    func changes(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        var number: UInt8 = 0
        /// The result of a sign-in whose flags or counter changed since the registration.
        func outcome(
            _ policy: String, flags: (UInt8, UInt8) = (0x05, 0x05),
            counts: (UInt32, UInt32) = (0, 0)
        ) async throws -> String {
            number += 1
            var passkey = try TestPasskey(id: [number])
            (passkey.flags, passkey.count) = (flags.0, counts.0)
            try await driver.register(passkey, for: "s\(number)")
            (passkey.flags, passkey.count) = (flags.1, counts.1)
            let reply = try await driver.signIn(
                passkey, as: "s\(number)", #","policy":\#(policy)"#)
            let reasons = reply.json?["step_up"]?.elements?.compactMap(\.string) ?? []
            let facts = [reply.result, reply.reason, reply.text("sign_count")].compactMap { $0 }
            return (facts + reasons).joined(separator: " ")
        }
        let (bound, synced): (UInt8, UInt8) = (0x05, 0x0d)
        for (policy, flags, expected) in [
            ("any", (bound, synced), "accepted none"), ("any", (synced, bound), "accepted none"),
            ("step-up", (bound, bound), "accepted none"),
            ("step-up", (synced, synced), "step-up none new-device"),
            ("step-up", (bound, synced), "step-up none became-syncable"),
            ("step-up", (synced, bound), "step-up none backup-flags"),
            ("device-bound", (bound, bound), "accepted none"),
            ("device-bound", (synced, synced), "denied not-device-bound"),
            ("device-bound", (bound, synced), "denied backup-eligibility-changed"),
            ("device-bound", (synced, bound), "denied backup-eligibility-changed"),
        ] {
            #expect(
                try await outcome(#"{"backup":"\#(policy)"}"#, flags: flags) == expected,
                "\(policy) \(flags)")
        }
        for (policy, counts, expected) in [
            ("deny", (0, 0), "accepted none"), ("deny", (5, 6), "accepted ok"),
            ("deny", (5, .max), "accepted ok"), ("signal", (5, 5), "accepted rollback"),
            ("signal", (5, 4), "accepted rollback"), ("signal", (5, 0), "accepted rollback"),
            ("step-up", (5, 5), "step-up rollback counter"), ("deny", (5, 5), "denied counter"),
            ("deny", (.max, 0), "denied counter"),
        ] as [(String, (UInt32, UInt32), String)] {
            #expect(
                try await outcome(#"{"counter":"\#(policy)"}"#, counts: counts) == expected,
                "\(policy) \(counts)")
        }
        // The stored counter never falls.
        var passkey = try TestPasskey(id: [99])
        passkey.count = 5
        try await driver.register(passkey)
        for (count, finding) in [(3, "rollback"), (4, "rollback"), (6, "ok")] as [(UInt32, String)]
        {
            passkey.count = count
            #expect(try await driver.signIn(passkey).text("sign_count") == finding)
        }
        await server.stop()
    }

    @Test(
        "K-24 over HTTP, a frame is accepted only in a page that is listed",
        arguments: Database.possible)
    func frames(database: Database) async throws {
        let server = try await PasskeyServer(
            database, passkeys: .forTests(topOrigins: ["https://shop.example"]))
        var passkey = try TestPasskey()
        try await server.driver.register(passkey)
        passkey.isCrossOrigin = true
        for (top, reason) in [
            (nil, nil), ("https://other.example", "top-origin"),
            ("https://shop.example.", "top-origin"), ("https://shop.example", nil),
        ] as [(String?, String?)] {
            passkey.topOrigin = top
            #expect(try await server.driver.signIn(passkey).reason == reason)
        }
        await server.stop()
    }

    @Test(
        "K-40 K-50 K-51 K-52 K-53 K-54 K-55 over HTTP, a passkey answers for its own subject",
        arguments: Database.possible)
    func owners(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        var (hers, his) = (try TestPasskey(id: [1]), try TestPasskey(id: [2]))
        let registration = try await driver.register(hers)
        let handle = registration.userHandle
        let other = try await driver.register(his, for: "bob").userHandle
        #expect(try await driver.signIn(his).reason == "unknown")
        // Another of the subject's keys signs for this id.
        let second = try TestPasskey(id: [3])
        try await driver.register(second)
        var forged = second
        forged.statedID = hers.id
        #expect(try await driver.signIn(forged).reason == "signature")
        // Without a subject, the user handle decides.
        for (handle, reason) in [
            (nil, "user-handle"), ([], "user-handle"), (other, "user-handle"), (handle, nil),
        ] as [([UInt8]?, String?)] {
            hers.userHandle = handle
            #expect(try await driver.signIn(hers, as: nil).reason == reason)
        }
        his.userHandle = handle
        #expect(try await driver.signIn(his, as: "bob").reason == "user-handle")
        // A passkey that was registered after the ceremony began.
        let late = try TestPasskey(id: [4])
        let ceremony = try await driver.beginCeremony()
        server.fixture.clock.advance(seconds: 21)
        try await driver.register(late)
        #expect(try await driver.finish(ceremony, late).reason == "unknown")
        // The longest id.
        let longest = try TestPasskey(id: [UInt8](repeating: 5, count: 1_023))
        try await driver.register(longest)
        #expect(try await driver.signIn(longest).result == "accepted")
        // Somebody else registers the same id, before and after it was revoked.
        for isRevoked in [false, true] {
            if isRevoked {
                let revoked = try await server.ask(
                    "DELETE", "/v1/credentials/\(registration.credential)")
                #expect(revoked.status == 204)
            }
            let begun = try await driver.begin("mallory")
            let denied = try await driver.finish(begun, TestPasskey(id: hers.id))
            #expect(denied.reason == "credential-known")
            let reply = try await driver.signIn(hers)
            #expect(reply.reason == (isRevoked ? "revoked" : nil))
        }
        await server.stop()
    }

    @Test(
        "K-67 over HTTP, a registration is denied after the account was closed, and a second time",
        arguments: Database.possible)
    func closed(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        let passkey = try TestPasskey()
        let begun = try await driver.register(passkey)
        #expect(try await driver.finish(begun, TestPasskey(id: [1])).reason == "challenge")
        let pending = try await driver.begin()
        let ticket = try PasskeyDriver.member("ticket", try await driver.issueTicket())
        let onPage = try PasskeyDriver.challenge(try await driver.beginOnPage(ticket: ticket))
        #expect(try await server.ask("DELETE", "/v1/subjects/alice").status == 204)
        #expect(try await driver.finish(pending, TestPasskey(id: [2])).reason == "revoked")
        let late = try await driver.registerOnPage(ticket, onPage, TestPasskey(id: [3]))
        #expect(late.problem == "refused-ticket")
        #expect(try await driver.signIn(passkey).reason == "revoked")
        await server.stop()
    }

    @Test(
        "K-66 over HTTP, an unknown subject gets the same made-up passkey each time",
        arguments: Database.possible)
    func unknownSubject(database: Database) async throws {
        let server = try await PasskeyServer(database)
        let driver = server.driver
        func ids(_ subject: String) async throws -> String? {
            let options = try await driver.beginCeremony(for: subject).options
            return options?["allowCredentials"]?.rendered().text
        }
        let first = try await ids("nobody")
        #expect(try await ids("nobody") == first)
        #expect(try await ids("somebody") != first)
        await server.stop()
    }
}
