import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding

@testable import VerificationService

/// The application's choices when it lets a person create a passkey: on its own page, and with a
/// ticket on the server's page.
struct PasskeyEnrolmentTests {
    /// A registration that was begun by the application or, with a ticket, on the server's page.
    private struct Attempt {
        let credential: String
        let ticket: String?
        let challenge: [UInt8]
        let options: PasskeyDriver.Reply
    }

    private static let target = "/v1/subjects/alice/credentials"

    private static func body(onPage isOnPage: Bool, _ more: String) -> String {
        #"{"type":"passkey","user_name":"alice"\#(isOnPage ? #","via":"page""# : "")\#(more)}"#
    }

    private func begin(
        _ fixture: ServiceFixture, onPage isOnPage: Bool, _ more: String = ""
    ) async throws -> Attempt {
        let reply = try await fixture.driver.send(
            .application, Self.target, Self.body(onPage: isOnPage, more))
        let credential = try PasskeyDriver.member("credential", reply)
        guard isOnPage else {
            return Attempt(
                credential: credential, ticket: nil,
                challenge: try PasskeyDriver.challenge(reply), options: reply)
        }
        let ticket = try PasskeyDriver.member("ticket", reply)
        let begun = try await fixture.driver.beginOnPage(ticket: ticket)
        return Attempt(
            credential: credential, ticket: ticket,
            challenge: try PasskeyDriver.challenge(begun), options: begun)
    }

    private func finish(
        _ attempt: Attempt, _ passkey: TestPasskey, _ fixture: ServiceFixture
    ) async throws -> PasskeyDriver.Reply {
        if let ticket = attempt.ticket {
            return try await fixture.driver.registerOnPage(ticket, attempt.challenge, passkey)
        }
        let response = try passkey.createdJSON(attempt.challenge)
        return try await fixture.driver.send(
            .application, "/v1/credentials/\(attempt.credential)/registration",
            #"{"response":\#(response)}"#)
    }

    private func state(
        _ credential: String, _ fixture: ServiceFixture
    ) async throws -> CredentialState? {
        let id = try #require(CredentialID(text: credential))
        return try await fixture.verifier.credential(id)?.state
    }

    @Test(
        "the floor applies to registrations: a weaker policy is refused; a missing member gets the floor",
        arguments: [false, true])
    func floor(onPage isOnPage: Bool) async throws {
        let floor = try #require(PolicyFloor(["attestation=trusted"]))
        let fixture = try await ServiceFixture(passkeys: .forTests(floor: floor))
        let weak = try await fixture.ask(
            "POST", Self.target, Self.body(onPage: isOnPage, #","policy":{"attestation":"any"}"#))
        #expect(weak.status == 422 && weak.problem == "weak-policy")
        for more in ["", #","policy":{}"#, #","policy":{"attestation":"trusted"}"#] {
            let attempt = try await begin(fixture, onPage: isOnPage, more)
            #expect(attempt.options.json?["options"]?["attestation"]?.string == "direct")
            #expect(try await finish(attempt, TestPasskey(), fixture).result == "denied")
            #expect(try await state(attempt.credential, fixture) != .active)
        }
    }

    @Test("the policy of a registration decides on its response", arguments: [false, true])
    func policy(onPage isOnPage: Bool) async throws {
        let fixture = try await ServiceFixture()
        let policy =
            #","policy":{"user_verification":"discouraged","backup":"device-bound","#
            + #""discoverable":"preferred","attestation":"any"}"#
        for (flags, result) in [(0x09, "denied"), (0x01, "accepted")] as [(UInt8, String)] {
            let attempt = try await begin(fixture, onPage: isOnPage, policy)
            let options = attempt.options.json?["options"]
            #expect(options?["attestation"]?.string == "direct")
            let selection = options?["authenticatorSelection"]
            #expect(selection?["residentKey"]?.string == "preferred")
            #expect(selection?["userVerification"]?.string == "discouraged")
            var passkey = try TestPasskey()
            passkey.flags = flags
            #expect(try await finish(attempt, passkey, fixture).result == result)
        }
        // Without a policy, user verification is required, and a passkey that can be copied is
        // permitted.
        for (flags, result) in [(0x01, "denied"), (0x0d, "accepted")] as [(UInt8, String)] {
            let attempt = try await begin(fixture, onPage: isOnPage)
            var passkey = try TestPasskey(id: [1])
            passkey.flags = flags
            #expect(try await finish(attempt, passkey, fixture).result == result)
        }
    }

    @Test("an accepted passkey replaces a credential", arguments: [false, true])
    func replacing(onPage isOnPage: Bool) async throws {
        let fixture = try await ServiceFixture()
        let old = try await fixture.driver.register(TestPasskey(id: [1])).credential
        let more = #","replaces":"\#(old)""#
        var passkey = try TestPasskey(id: [2])
        passkey.flags = 0x01
        let failed = try await begin(fixture, onPage: isOnPage, more)
        #expect(try await finish(failed, passkey, fixture).result == "denied")
        #expect(try await state(old, fixture) == .active)
        passkey.flags = 0x05
        let attempt = try await begin(fixture, onPage: isOnPage, more)
        #expect(try await finish(attempt, passkey, fixture).result == "accepted")
        #expect(try await state(old, fixture) == .revoked)
        #expect(try await state(attempt.credential, fixture) == .active)
        #expect(
            try await fixture.ask("POST", Self.target, Self.body(onPage: isOnPage, more)).problem
                == "unknown-credential")
    }

    @Test("a client with only the scope enrol can replace only credentials that it enrolled")
    func replacingForeign() async throws {
        let fixture = try await ServiceFixture()
        let foreign = try await fixture.driver.register(TestPasskey(id: [1])).credential
        let secret = try await fixture.ask(
            "POST", Self.target, #"{"type":"secret"}"#, as: "enrol")
        let redeemed = try await fixture.ask(
            "POST", "/v1/device/enrolments",
            #"{"ticket":"\#(try #require(secret.text("ticket")))"}"#, as: nil)
        let own = try #require(redeemed.text("credential"))
        for (old, isOwn) in [(foreign, false), (own, true)] {
            let more = #","replaces":"\#(old)""#
            for body in [
                Self.body(onPage: false, more), Self.body(onPage: true, more),
                #"{"type":"key"\#(more)}"#,
            ] {
                let reply = try await fixture.ask("POST", Self.target, body, as: "enrol")
                guard !isOwn else {
                    #expect(reply.status == 201, "\(body)")
                    continue
                }
                #expect(reply.status == 403 && reply.problem == "missing-scope", "\(body)")
                #expect(reply.text("scope") == "manage")
            }
        }
        #expect(try await state(foreign, fixture) == .active)
        #expect(try await state(own, fixture) == .active)
        let codes = #"{"type":"recovery"}"#
        #expect(try await fixture.ask("POST", Self.target, codes).status == 201)
        let refused = try await fixture.ask("POST", Self.target, codes, as: "enrol")
        #expect(refused.status == 403 && refused.text("scope") == "manage")
    }

    @Test("no registration replaces an unfinished one, before or after its deadline")
    func replacingPending() async throws {
        let fixture = try await ServiceFixture()
        let pending = try await fixture.driver.begin().credential
        let more = #","replaces":"\#(pending)""#
        for seconds: Int64 in [0, 600] {
            fixture.clock.advance(seconds: seconds)
            for body in [
                Self.body(onPage: false, more), Self.body(onPage: true, more),
                #"{"type":"key"\#(more)}"#,
            ] {
                let reply = try await fixture.ask("POST", Self.target, body)
                #expect(reply.status == 409 && reply.problem == "refused-by-state", "\(body)")
            }
        }
        let attempt = try await begin(fixture, onPage: false)
        #expect(try await finish(attempt, TestPasskey(), fixture).result == "accepted")
    }
}
