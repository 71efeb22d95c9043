import OneTimePassword
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

struct IdempotencyTests {
    private let enrolment = #"{"type":"totp","issuer":"ACME","account":"alice"}"#

    @Test("a request repeated with its idempotency key gets the same response and changes nothing")
    func repeated() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        let first = try await fixture.verify("alice", code, headers: ["Idempotency-Key": "k1"])
        let commits = fixture.store.commits
        let second = try await fixture.verify("alice", code, headers: ["Idempotency-Key": "k1"])
        #expect(first.result == "accepted" && second.status == first.status)
        #expect(second.response.body.text == first.response.body.text)
        #expect(fixture.store.commits == commits)
        // Without the key, or with a different key, the code is spent.
        #expect(try await fixture.verify("alice", code).result == "denied")
        let other = try await fixture.verify("alice", code, headers: ["Idempotency-Key": "k2"])
        #expect(other.result == "denied")
    }

    @Test(
        "R-06 a login that arrives after its retry needs its idempotency key to be recognised",
        arguments: [true, false])
    func lateLogin(hasKey: Bool) async throws {
        let fixture = try await ServiceFixture()
        let enrolment = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#)
        let ticket = try #require(enrolment.text("ticket"))
        let device = try await fixture.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil)
        let id = try #require(device.text("credential"))
        func login(_ secret: String?, _ nonce: String, _ key: String?) async throws -> Reply {
            let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
            let nonce = nonce + String(repeating: "A", count: 21)
            return try await fixture.ask(
                "POST", "/v1/device/logins",
                #"{"credential":"\#(id)","secret":"\#(secret ?? "")","rotation_nonce":"\#(nonce)"}"#,
                as: nil, headers: headers)
        }
        let first = device.text("secret")
        let repetition = try await login(first, "A", "one")
        #expect(repetition.result == "accepted")
        #expect(
            try await login(repetition.text("secret"), "B", "two").result == "accepted")
        // The original request was delayed until now. Without the key, it could come from a thief.
        let late = try await login(first, "A", hasKey ? "one" : nil)
        if hasKey {
            #expect(late.response.body.text == repetition.response.body.text)
        } else {
            #expect(late.text("wipe_reason") == "reuse-detected")
        }
    }

    @Test("a repeated enrolment gets the stored response, including its secrets")
    func secretsAgain() async throws {
        let fixture = try await ServiceFixture()
        let target = "/v1/subjects/alice/credentials"
        for body in [enrolment, #"{"type":"recovery"}"#, #"{"type":"secret"}"#] {
            let headers = ["Idempotency-Key": "key-\(body.utf8.count)"]
            let first = try await fixture.ask("POST", target, body, headers: headers)
            let second = try await fixture.ask("POST", target, body, headers: headers)
            #expect(first.status == 201 && second.status == 201)
            #expect(first.response.body.text == second.response.body.text)
        }
        let list = try await fixture.ask("GET", target)
        #expect(list.json?["credentials"]?.elements?.count == 3)
    }

    @Test("an idempotency key reused for a different target or body gets 422 and has no effect")
    func otherRequest() async throws {
        let fixture = try await ServiceFixture()
        let headers = ["Idempotency-Key": "k"]
        let target = "/v1/subjects/alice/credentials"
        #expect(try await fixture.ask("POST", target, enrolment, headers: headers).status == 201)
        let commits = fixture.store.commits
        for (target, body) in [
            (target, #"{"type":"recovery"}"#), (target, enrolment + " "),
            ("/v1/subjects/bob/credentials", enrolment),
        ] {
            let reply = try await fixture.ask("POST", target, body, headers: headers)
            #expect(reply.status == 422 && reply.problem == "idempotency-key-reused")
        }
        #expect(fixture.store.commits == commits)
    }

    @Test("O-08 a denial without a check is not stored: a repeated request is decided again")
    func unchecked() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let wrong = try fixture.wrongCode(of: alice)
        func ask(_ subject: String, _ code: String, _ key: String) async throws -> Reply {
            try await fixture.verify(subject, code, headers: ["Idempotency-Key": key])
        }
        let stored = try await fixture.store.keyUsage().map(\.answers)
        var ids: Set<String?> = []
        // The last request has a different body.
        for code in [wrong, wrong, "ABCD-EFGH-IJKL-MNOP"] {
            let reply = try await ask("nobody", code, "unknown")
            #expect(reply.text("reason") == "unknown")
            ids.insert(reply.text("verification"))
        }
        let ticket = #"{"login":"wwl_\#(String(repeating: "A", count: 43))"}"#
        let redeemed = try await fixture.ask(
            "POST", "/v1/logins/redeem", ticket, headers: ["Idempotency-Key": "login"])
        #expect(redeemed.result == "denied")
        #expect(ids.count == 3)
        #expect(try await fixture.store.keyUsage().map(\.answers) == stored)
        // A denial after a check is stored, and binds its key.
        let first = try await ask("alice", wrong, "wrong").response.body.text
        for _ in 0..<9 {
            #expect(try await ask("alice", wrong, "wrong").response.body.text == first)
        }
        #expect(try await ask("alice", wrong + "0", "wrong").problem == "idempotency-key-reused")
        for _ in 1..<Policy.standard.firstFailureWithWait {
            #expect(try await fixture.verify("alice", wrong).result == "denied")
        }
        // A retry after the wait gets its code checked, and then the same response.
        let next = try fixture.code(of: alice, step: 1)
        #expect(try await ask("alice", next, "wait").text("reason") == "throttled")
        fixture.clock.advance(seconds: Policy.firstWait / 1_000)
        let accepted = try await ask("alice", next, "wait")
        #expect(accepted.result == "accepted")
        let again = try await ask("alice", next, "wait").response.body.text
        #expect(again == accepted.response.body.text)
    }

    @Test("each API client has its own idempotency keys")
    func clients() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        let headers = ["Idempotency-Key": "same"]
        let first = try await fixture.verify("alice", code, as: "all", headers: headers)
        let second = try await fixture.verify("alice", code, as: "verify", headers: headers)
        #expect(first.result == "accepted" && second.result == "denied")
    }

    @Test("concurrent requests with one key are decided once and get the same response")
    func atOnce() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await fixture.verify("alice", code, headers: ["Idempotency-Key": "k"])
                        .response.body.text
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(bodies.count == 1)
        #expect(bodies.first?.contains(#""result":"accepted""#) == true)
        let events = try await fixture.ask("GET", "/v1/events?limit=1000").json?["events"]?.elements
        #expect(events?.filter { $0["kind"]?.string == "accepted" }.count == 1)
    }

    @Test("a stored response expires after 24 hours and is unchanged until then")
    func lapse() async throws {
        let fixture = try await ServiceFixture()
        let wrong = try fixture.wrongCode(of: try await fixture.enrolled())
        func ask() async throws -> String? {
            _ = try await fixture.verifier.prune()
            return try await fixture.verify("alice", wrong, headers: ["Idempotency-Key": "k"])
                .text("verification")
        }
        let first = try await ask()
        // An event late in that day confirms the clock.
        fixture.clock.advance(seconds: 72_000)
        _ = try await fixture.verify("alice", wrong)
        fixture.clock.advance(seconds: 14_399)
        #expect(try await ask() == first)
        fixture.clock.advance(seconds: 1)
        let third = try await ask()
        #expect(third != nil && third != first)
    }

    @Test("O-06 a repeated enrolment gets 410 after confirmation, revocation or account closure")
    func secretsEnd() async throws {
        let fixture = try await ServiceFixture()
        let target = "/v1/subjects/alice/credentials"
        func enrol(_ body: String, _ key: String) async throws -> Reply {
            try await fixture.ask("POST", target, body, headers: ["Idempotency-Key": key])
        }
        func isGone(_ body: String, _ key: String) async throws -> Bool {
            let reply = try await enrol(body, key)
            return reply.status == 410 && reply.problem == "answer-ended"
        }
        let confirmed = try await enrol(enrolment, "one")
        let id = try #require(confirmed.text("credential"))
        #expect(try await enrol(enrolment, "one").text("uri") == confirmed.text("uri"))
        let uri = try #require(confirmed.text("uri"))
        let entry = try KeyURI(parsing: Array(uri.utf8).span).credential
        let code = try entry.code(atUnixTime: fixture.clock.now.seconds).text
        let outcome = try await fixture.ask(
            "POST", "/v1/credentials/\(id)/confirm", #"{"code":"\#(code)"}"#)
        #expect(outcome.result == "accepted")
        #expect(try await isGone(enrolment, "one"))
        // A different request with that key still gets status 422.
        #expect(try await enrol(enrolment + " ", "one").status == 422)
        let secret = #"{"type":"secret"}"#
        let revoked = try #require(try await enrol(secret, "two").text("credential"))
        #expect(try await fixture.ask("DELETE", "/v1/credentials/\(revoked)").status == 204)
        #expect(try await isGone(secret, "two"))
        #expect(try await enrol(secret, "three").status == 201)
        #expect(try await fixture.ask("DELETE", "/v1/subjects/alice").status == 204)
        #expect(try await isGone(secret, "three"))
    }

    @Test(
        "devices do not share idempotency keys, so one device cannot occupy another's key"
    )
    func devices() async throws {
        let fixture = try await ServiceFixture()
        var devices: [(id: String, ticket: String)] = []
        for _ in 0..<2 {
            let reply = try await fixture.ask(
                "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#)
            devices.append(
                (try #require(reply.text("credential")), try #require(reply.text("ticket"))))
        }
        func ask(_ route: String, _ body: String) async throws -> Reply {
            try await fixture.ask(
                "POST", "/v1/device/\(route)", body, as: nil, headers: ["Idempotency-Key": "1"])
        }
        let unknown = "wwt_" + String(repeating: "A", count: 43)
        #expect(try await ask("enrolments", #"{"ticket":"\#(unknown)"}"#).status == 403)
        var secrets: [String] = []
        for device in devices {
            let reply = try await ask("enrolments", #"{"ticket":"\#(device.ticket)"}"#)
            #expect(reply.status == 201)
            secrets.append(try #require(reply.text("secret")))
            // The same request again, and a different request with the same key.
            let again = try await ask("enrolments", #"{"ticket":"\#(device.ticket)"}"#)
            #expect(again.text("secret") == secrets.last)
            let other = try await ask("enrolments", #"{"ticket":"\#(device.ticket)","name":"x"}"#)
            #expect(other.status == 422)
        }
        func login(_ id: String, _ secret: String) async throws -> Reply {
            let nonce = String(repeating: "A", count: 22)
            return try await ask(
                "logins",
                #"{"credential":"\#(id)","secret":"\#(secret)","rotation_nonce":"\#(nonce)"}"#)
        }
        let madeUp = "wws_" + String(repeating: "A", count: 75)
        for (device, secret) in zip(devices, secrets) {
            #expect(try await login(device.id, madeUp).result == "denied")
            let first = try await login(device.id, secret)
            #expect(first.result == "accepted")
            let again = try await login(device.id, secret)
            #expect(again.response.body.text == first.response.body.text)
        }
    }

    @Test(
        "an accepted proof that is repeated with its idempotency key gets the same response",
        arguments: ProvingRoute.allCases)
    func repeatedProof(_ route: ProvingRoute) async throws {
        let fixture = try await ServiceFixture()
        let proof = try await fixture.proof(on: route)
        let body = try proof.body(proof.right(), 0)
        let headers = proof.headers.merging(["Idempotency-Key": "k"]) { own, _ in own }
        var texts: [String] = []
        for _ in 0..<2 {
            let reply = try await fixture.ask(
                "POST", proof.target, body, as: proof.key, headers: headers)
            texts.append(reply.response.body.text)
        }
        #expect(texts[0].contains(proof.mark))
        #expect(texts[1] == texts[0])
    }

    @Test("a malformed idempotency key is rejected on POST routes and ignored on others")
    func malformed() async throws {
        let fixture = try await ServiceFixture()
        for key in ["", "a b", "é", "a\r\nb", String(repeating: "k", count: 256)] {
            let reply = try await fixture.ask(
                "POST", "/v1/subjects/alice/credentials", enrolment,
                headers: ["Idempotency-Key": key])
            #expect(reply.status == 400 && reply.problem == "malformed-header")
        }
        let doubled = HTTPRequest(
            method: "POST", target: "/v1/device/logins",
            headers: [
                HTTPField("Content-Type", "application/json"), HTTPField("Idempotency-Key", "a"),
                HTTPField("idempotency-key", "a"),
            ], body: SecretBytes(text: "{}"), peer: "")
        #expect(try await fixture.send(doubled).problem != nil)
        let read = try await fixture.ask("GET", "/v1/events", headers: ["Idempotency-Key": "a b"])
        #expect(read.status == 200)
    }

    @Test("a stored response in an unknown format is not returned")
    func foreignResponse() {
        for bytes: [UInt8] in [[], [1], [1, 0], [2, 0, 200], [1, 0, 199], [1, 1, 0x2C]] {
            #expect(RenderedResponse(kept: SecretBytes(copying: bytes.span)) == nil)
        }
        let kept = RenderedResponse(.unknownCredential).kept()
        #expect(RenderedResponse(kept: kept)?.status == .notFound)
        #expect(
            RenderedResponse(kept: kept)?.body.text
                == RenderedResponse(.unknownCredential).body.text)
    }
}
