import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

/// The permissions and the knowledge of a client that is limited to `shop/`, on every route.
struct SubjectLimitTests {
    /// A request about the credential with an id.
    private struct CredentialRequest: CustomStringConvertible {
        let operation: String
        let method: String
        let target: @Sendable (String) -> String
        let body: @Sendable (String) -> String?

        init(
            _ operation: String, _ method: String, _ suffix: String = "", _ body: String? = nil
        ) {
            self.operation = operation
            self.method = method
            target = { "/v1/credentials/\($0)\(suffix)" }
            self.body = { _ in body }
        }

        init(confirmation text: String) {
            operation = "createConfirmation"
            method = "POST"
            target = { _ in "/v1/challenges" }
            body = { #"{"credential":"\#($0)","purpose":"confirm","text":"\#(text)"}"# }
        }

        var description: String { operation }
    }

    private static func credentialRequests() throws -> [CredentialRequest] {
        let created = try TestPasskey().createdJSON([UInt8](repeating: 1, count: 32))
        let verification = "vf_" + String(repeating: "A", count: 22)
        return [
            CredentialRequest("renameCredential", "PATCH", "", #"{"name":"x"}"#),
            CredentialRequest("confirmCredential", "POST", "/confirm", #"{"code":"123456"}"#),
            CredentialRequest(
                "resynchronizeCredential", "POST", "/resync", #"{"codes":["123456","234567"]}"#),
            CredentialRequest("unlockCredential", "POST", "/unlock"),
            CredentialRequest(
                "registerPasskey", "POST", "/registration", #"{"response":\#(created)}"#),
            CredentialRequest(
                "completeStepUp", "POST", "/step-up", #"{"verification":"\#(verification)"}"#),
            CredentialRequest(confirmation: "pay"),
            CredentialRequest("revokeCredential", "DELETE"),
        ]
    }

    /// The routes of applications that specify neither a subject nor a credential; a separate test
    /// below covers each route.
    private static let others = ["redeemLogin", "verifyAssertion", "listEvents"]

    @Test("each route for applications specifies a subject or a credential, or is tested below")
    func routes() throws {
        let tried = Set(try Self.credentialRequests().map(\.operation) + Self.others)
        for route in RouteTable.all {
            guard case .scope = route.access else { continue }
            #expect(route.namesSubject != tried.contains(route.operation.id), "\(route.template)")
        }
    }

    @Test("a foreign subject's credential is indistinguishable from an unknown one on every route")
    func credentials() async throws {
        let fixture = try await ServiceFixture()
        let active = try await fixture.enrolled().id
        let pending = try await fixture.pending().id
        let begun = try await fixture.driver.begin().credential
        let passkey = try await fixture.driver.register(TestPasskey()).credential
        let none = CredentialID.anywhere().text
        for request in try Self.credentialRequests() {
            var replies: [(status: Int, members: [String], events: Int, commits: Int)] = []
            for id in [none, active, pending, begun, passkey] {
                // Denials are counted per minute.
                fixture.clock.advance(seconds: 120)
                let events = try await fixture.verifier.events(after: 0, limit: .max).count
                let commits = fixture.store.commits
                let reply = try await fixture.ask(
                    request.method, request.target(id), request.body(id), as: "limited")
                let problem = reply.problem.map { ["type", $0] } ?? []
                replies.append(
                    (
                        reply.status, problem + (reply.json?.members ?? []).map(\.0),
                        try await fixture.verifier.events(after: 0, limit: .max).count - events,
                        fixture.store.commits - commits
                    ))
            }
            #expect(replies.allSatisfy { $0 == replies[0] }, "\(request): \(replies)")
        }
        let left = try await fixture.ask("GET", "/v1/subjects/alice/credentials")
        let states = left.json?["credentials"]?.elements?.compactMap { $0["state"]?.string }
        // The registrations that were not finished have expired.
        #expect(states?.filter { $0 == "active" }.count == 2)
    }

    @Test("a foreign subject is refused on every route with a subject, and the client's own is not")
    func subjects() async throws {
        let fixture = try await ServiceFixture()
        _ = try await fixture.enrolled()
        for (subject, isForeign) in [
            ("alice", true), ("nobody", true), ("shop", true), ("shop/alice", false),
        ] {
            let path = "/v1/subjects/" + subject.replacing("/", with: "%2F")
            for (method, target, body) in [
                ("GET", "/v1/subjects?prefix=" + subject.replacing("/", with: "%2F"), nil),
                ("GET", path, nil), ("GET", path + "/credentials", nil),
                ("GET", path + "/events", nil), ("GET", path + "/passkeys/signal", nil),
                ("POST", path + "/credentials", #"{"type":"recovery"}"#),
                ("POST", "/v1/verifications", #"{"subject":"\#(subject)","code":"123456"}"#),
                ("POST", "/v1/ceremonies", #"{"type":"passkey","subject":"\#(subject)"}"#),
                ("DELETE", path, nil),
            ] as [(String, String, String?)] {
                let commits = fixture.store.commits
                let reply = try await fixture.ask(method, target, body, as: "limited")
                #expect(
                    (reply.problem == "foreign-subject") == isForeign, "\(method) \(target)")
                if isForeign {
                    #expect(reply.status == 403 && fixture.store.commits == commits)
                } else {
                    #expect(reply.status < 300, "\(method) \(target)")
                }
            }
        }
    }

    @Test("a foreign credential cannot be tried or replaced through the client's own subject")
    func mixed() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        let verified = try await fixture.ask(
            "POST", "/v1/verifications",
            #"{"subject":"shop/bob","code":"\#(code)","credential":"\#(alice.id)"}"#, as: "limited")
        #expect(verified.result == "denied" && verified.text("reason") == "unknown")
        for id in [alice.id, CredentialID.anywhere().text] {
            let replaced = try await fixture.ask(
                "POST", "/v1/subjects/shop%2Fbob/credentials",
                #"{"type":"key","replaces":"\#(id)"}"#, as: "limited")
            #expect(replaced.problem == "unknown-credential")
        }
        #expect(try await fixture.verify("alice", code).result == "accepted")
    }

    @Test("a login ticket of a foreign subject is unknown to a limited client, and is not spent")
    func logins() async throws {
        let fixture = try await ServiceFixture()
        let proof = try await fixture.proof(on: .loginTicket)
        let body = proof.body(try proof.right(), 0)
        let unknown = proof.body(proof.wrong, 0)
        let replies = [
            try await fixture.ask("POST", proof.target, body, as: "limited"),
            try await fixture.ask("POST", proof.target, unknown, as: "limited"),
        ]
        #expect(replies[0].response.body.text == replies[1].response.body.text)
        #expect(replies.allSatisfy { $0.result == "denied" && $0.status == 200 })
        #expect(try await fixture.ask("POST", proof.target, body).result == "accepted")
    }

    @Test("a foreign subject's passkey is unknown to a limited client, but browsers keep it")
    func passkeys() async throws {
        let fixture = try await ServiceFixture()
        let limited = fixture.driver(as: "limited")
        var foreign = try TestPasskey()
        foreign.userHandle = try await fixture.driver.register(foreign).userHandle
        var stranger = try TestPasskey()
        stranger.id = [UInt8](repeating: 8, count: 16)
        stranger.userHandle = foreign.userHandle
        let replies = [
            try await limited.signIn(foreign, as: nil), try await limited.signIn(stranger, as: nil),
        ]
        #expect(replies.allSatisfy { $0.result == "denied" && $0.json?["signal"] == nil })
        #expect(replies[0].reason == replies[1].reason)
        // Without a limit, the known passkey is accepted, and the unknown passkey is reported as
        // unknown.
        #expect(try await fixture.driver.signIn(foreign, as: nil).result == "accepted")
        #expect(try await fixture.driver.signIn(stranger, as: nil).json?["signal"] != nil)
        // A passkey of the client's own subject is accepted.
        var own = try TestPasskey()
        own.id = [UInt8](repeating: 9, count: 16)
        own.userHandle = try await limited.register(own, for: "shop%2Fbob").userHandle
        #expect(try await limited.signIn(own, as: nil).result == "accepted")
    }

    @Test("a limited client reads only the events and lists only the subjects within its limit")
    func lists() async throws {
        let fixture = try await ServiceFixture()
        for subject in ["alice", "shop/bob", "shopping", "shop/carol"] {
            let path = "/v1/subjects/\(subject.replacing("/", with: "%2F"))/credentials"
            #expect(try await fixture.ask("POST", path, #"{"type":"recovery"}"#).status == 201)
        }
        let events = try await fixture.ask("GET", "/v1/events", as: "limited").json
        let subjects = events?["events"]?.elements?.compactMap { $0["subject"]?.string }
        #expect(subjects == ["shop/bob", "shop/carol"])
        let last = try #require(events?["last"]?.wholeNumber)
        let rest = try await fixture.ask("GET", "/v1/events?after=\(last)", as: "limited").json
        #expect(rest?["events"]?.elements?.isEmpty == true && rest?["last"]?.wholeNumber == last)
        for (query, expected) in [
            ("", ["shop/bob", "shop/carol"]), ("?prefix=shop%2Fc", ["shop/carol"]),
            ("?after=shop%2Fbob", ["shop/carol"]), ("?after=a", ["shop/bob", "shop/carol"]),
        ] {
            let listed = try await fixture.ask("GET", "/v1/subjects" + query, as: "limited").json
            let names = listed?["subjects"]?.elements?.compactMap { $0["subject"]?.string }
            #expect(names == expected, "\(query)")
        }
    }

    @Test("an idempotency key of another client reveals nothing to a limited client")
    func recordedResponses() async throws {
        let fixture = try await ServiceFixture()
        let target = "/v1/subjects/shop%2Fbob/credentials"
        let headers = ["Idempotency-Key": "k"]
        let body = #"{"type":"totp","issuer":"a","account":"b"}"#
        let first = try await fixture.ask("POST", target, body, headers: headers)
        let second = try await fixture.ask("POST", target, body, as: "limited", headers: headers)
        #expect(first.status == 201 && second.status == 201)
        #expect(first.text("uri") != second.text("uri"))
        let foreign = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials", body, as: "limited", headers: headers)
        #expect(foreign.problem == "foreign-subject")
    }

    @Test("a person who can open the store has all scopes, and events contain the person's name")
    func administrator() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        func ask(_ method: String, _ target: String) async -> HTTPResponse {
            await fixture.service.respond(
                to: HTTPRequest(
                    method: method, target: target, headers: [HTTPField("User-Agent", "x")],
                    body: SecretBytes(text: ""), peer: ""), by: "root\u{1B}")
        }
        #expect(await ask("GET", "/v1/subjects").status == 200)
        #expect(await ask("DELETE", "/v1/credentials/\(alice.id)").status == 204)
        let event = try #require(
            try await fixture.verifier.events(after: 0, limit: .max).last?.event)
        #expect(event.kind == .revoked && event.origin.client == nil)
        #expect(event.origin.userAgent == "watchword-server (root\u{1B})")
        // Over the API, the same request needs a key.
        #expect(try await fixture.ask("GET", "/v1/subjects", as: nil).status == 401)
    }
}
