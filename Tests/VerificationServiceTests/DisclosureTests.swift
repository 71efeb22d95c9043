import OneTimePassword
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

struct DisclosureTests {
    /// Uses every feature that involves a secret.
    ///
    /// Returns the secrets, and all output that must not contain one.
    private func life(in fixture: ServiceFixture) async throws -> (
        secrets: [String], said: [String]
    ) {
        var secrets = fixture.keys.values.map(\.text)
        var said: [String] = []
        let alice = try await fixture.enrolled()
        secrets.append(alice.uri)
        let start = try #require(alice.uri.firstRange(of: "secret="))
        secrets.append(String(alice.uri[start.upperBound...].prefix { $0 != "&" }))
        let code = try fixture.code(of: alice)
        secrets.append(code)
        let remembered = try await fixture.ask(
            "POST", "/v1/verifications", #"{"subject":"alice","code":"\#(code)","remember":true}"#)
        secrets.append(try #require(remembered.text("device")))
        said.append(try await fixture.verify("alice", code).response.body.text)
        let recovery = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"recovery"}"#,
            headers: ["Idempotency-Key": "a-name-of-a-request"])
        secrets += recovery.json?["codes"]?.elements?.compactMap(\.string) ?? []
        secrets.append("a-name-of-a-request")
        let grant = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#)
        let ticket = try #require(grant.text("ticket"))
        let handedOut = try await fixture.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil)
        let first = try #require(handedOut.text("secret"))
        let id = try #require(handedOut.text("credential"))
        let nonce = "AAAAAAAAAAAAAAAAAAAAAQ"
        let login = try await fixture.ask(
            "POST", "/v1/device/logins",
            #"{"credential":"\#(id)","secret":"\#(first)","rotation_nonce":"\#(nonce)"}"#, as: nil)
        secrets += [ticket, first, nonce] + ["login", "secret"].compactMap { login.text($0) }
        // All kinds of malformed requests, with a secret in the wrong place.
        for body in [
            #"{"\#(first)":1}"#, #"{"credential":"\#(first)"}"#, #"{"ticket":"\#(first)"}"#, first,
            #"{"credential":"\#(id)","secret":"\#(ticket)","rotation_nonce":"\#(nonce)"}"#,
            #"{"a":1,"a":"\#(first)"}"#,
        ] {
            said.append(
                try await fixture.ask("POST", "/v1/device/logins", body, as: nil).response.body.text
            )
        }
        for target in [
            "/\(first)", "/v1/credentials/\(first)", "/v1/events?\(first)=1",
            "/v1/events?after=\(code)x",
        ] {
            said.append(try await fixture.ask("GET", target).response.body.text)
        }
        for target in [
            "/v1/events?limit=1000", "/v1/subjects/alice/credentials",
            "/v1/openapi.json",
        ] {
            said.append(try await fixture.ask("GET", target).response.body.text)
        }
        return (secrets, said)
    }

    @Test("V-28 no secret appears in log lines, events, problems, lists, metrics or OpenAPI")
    func nowhere() async throws {
        let fixture = try await ServiceFixture()
        let (secrets, said) = try await life(in: fixture)
        #expect(secrets.count > 20 && secrets.allSatisfy { $0.utf8.count >= 6 })
        let metrics = await fixture.service.respondToOperator(
            HTTPRequest(
                method: "GET", target: "/metrics", body: SecretBytes(text: ""), peer: ""))
        let lines = fixture.log.map { $0.rendered().text }
        #expect(lines.count > 15)
        for text in said + lines + [metrics.body.text] {
            for (index, secret) in secrets.enumerated() {
                #expect(!text.contains(secret), "secret \(index)")
            }
        }
    }

    @Test("V-30 a subject with line breaks is escaped in all output")
    func injection() async throws {
        let fixture = try await ServiceFixture()
        let target = "/v1/subjects/a%0D%0A%1B%5B31mb/credentials"
        let grant = try await fixture.ask(
            "POST", target, #"{"type":"recovery"}"#, headers: ["User-Agent": "x\r\n\u{1B}[2J"])
        #expect(grant.status == 201)
        for read in ["/v1/events?limit=1000", target] {
            let text = try await fixture.ask("GET", read).response.body.text
            #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        }
        for line in fixture.log {
            let text = line.rendered().text
            #expect(text.dropLast().utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        }
    }

    @Test("V-29 V-05 acceptances, denials, changes and revocations are recorded; some notify users")
    func events() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let wrong = try fixture.wrongCode(of: alice)
        let code = try fixture.code(of: alice)
        _ = try await fixture.verify("alice", code)
        _ = try await fixture.verify("alice", code)
        for _ in 0..<6 { _ = try await fixture.verify("alice", wrong) }
        _ = try await fixture.verify("nobody", wrong)
        _ = try await fixture.ask("PATCH", "/v1/credentials/\(alice.id)", #"{"name":"x"}"#)
        _ = try await fixture.ask("POST", "/v1/credentials/\(alice.id)/unlock")
        _ = try await fixture.ask("DELETE", "/v1/credentials/\(alice.id)")
        let events = try #require(
            try await fixture.ask("GET", "/v1/events?limit=1000").json?["events"]?.elements)
        let kinds = Set(events.compactMap { $0["kind"]?.string })
        #expect(
            kinds.isSuperset(of: [
                "clientAdded", "enrolmentStarted", "enrolled", "accepted", "replayed", "denied",
                "locked", "renamed", "unlocked", "revoked",
            ]))
        for event in events {
            let isGrave = ["enrolled", "locked", "replayed", "revoked"].contains(
                event["kind"]?.string ?? "")
            if isGrave { #expect(event["notify"]?.truth == true) }
        }
        // Reading page by page returns the same events, each once.
        var positions: [UInt64] = []
        var last: UInt64 = 0
        while true {
            let page = try await fixture.ask("GET", "/v1/events?after=\(last)&limit=3").json
            let found = page?["events"]?.elements ?? []
            if found.isEmpty { break }
            positions += found.compactMap { $0["position"]?.wholeNumber }
            last = try #require(page?["last"]?.wholeNumber)
        }
        #expect(positions == events.compactMap { $0["position"]?.wholeNumber })
    }

    @Test("N-33 a new binding is recorded as an event of which the subject must be notified")
    func bindingNotifies() async throws {
        let fixture = try await ServiceFixture()
        _ = try await fixture.enrolled()
        let events = try await fixture.ask("GET", "/v1/events?limit=1000").json?["events"]?.elements
        let binding = try #require(events?.first { $0["kind"]?.string == "enrolled" })
        #expect(binding["notify"]?.truth == true && binding["subject"]?.string == "alice")
        #expect(binding["address"]?.string == "192.0.2.7")
    }

    @Test("a log line contains the route, the client and the decision; each outcome is counted")
    func lines() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        let reply = try await fixture.verify("alice", code, as: "verify")
        let line = try #require(fixture.log.last)
        #expect(line.route == "/v1/verifications" && line.method == "POST")
        #expect(line.client == "verify" && line.outcome == "accepted" && line.status == 200)
        #expect(line.requestID == reply.response.value(of: "Request-Id"))
        _ = try await fixture.verify("alice", code, as: "verify")
        #expect(fixture.log.last?.outcome == "replayed")
        _ = try await fixture.ask("FETCH", "/v1/verifications")
        #expect(fixture.log.last?.method == "other" && fixture.log.last?.route == nil)
        let metrics = await fixture.service.respondToOperator(
            HTTPRequest(
                method: "GET", target: "/metrics", body: SecretBytes(text: ""), peer: ""))
        for outcome in ["accepted", "replayed"] {
            let line =
                #"watchword_requests_total{operation="verify",status="200",outcome="\#(outcome)"} 1"#
            #expect(metrics.body.text.contains(line + "\n"))
        }
    }

    @Test("responses match the OpenAPI document in their status, fields and formats")
    func promised() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        let target = "/v1/subjects/alice/credentials"
        for (operation, method, path, body) in [
            (
                "verify", "POST", "/v1/verifications",
                #"{"subject":"alice","code":"\#(code)"}"#
            ),
            ("verify", "POST", "/v1/verifications", #"{"subject":"alice","code":"\#(code)"}"#),
            ("enrol", "POST", target, #"{"type":"totp","issuer":"a","account":"b"}"#),
            ("enrol", "POST", target, #"{"type":"recovery"}"#),
            ("enrol", "POST", target, #"{"type":"secret","name":"n"}"#),
            ("listCredentials", "GET", target, nil), ("listEvents", "GET", "/v1/events", nil),
            ("listSubjects", "GET", "/v1/subjects", nil),
            ("describeSubject", "GET", "/v1/subjects/alice", nil),
            ("listSubjectEvents", "GET", "/v1/subjects/alice/events", nil),
            (
                "confirmCredential", "POST", "/v1/credentials/\(alice.id)/resync",
                #"{"codes":["\#(code)","\#(code)"]}"#
            ),
        ] as [(String, String, String, String?)] {
            let reply = try await fixture.ask(method, path, body)
            let route = try #require(RouteTable.all.first { $0.operation.id == operation })
            #expect(reply.status == route.responses.success.status.rawValue)
            let fits = route.responses.shapes.filter { shape in
                (try? BodyFields(reply.response.body, as: .one(shape))) != nil
            }
            #expect(fits.count == 1, "\(operation) \(path)")
        }
    }
}
