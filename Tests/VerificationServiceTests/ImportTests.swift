import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

struct ImportTests {
    private static let target = "/v1/subjects/alice/credentials"
    private static let key = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    private static let shortKey = "MFRGGZDFMZTWQ2LK"

    @Test("a client without the scope “import” gets the same response to every import")
    func withoutScope() async throws {
        let fixture = try await ServiceFixture()
        _ = try await fixture.verifier.addClient(named: "unused", scopes: [])
        let before = fixture.store.commits
        var bodies: Set<String> = []
        for members in [
            #""confirmed":true"#, #""confirmed":false"#, #""confirmed":"x""#,
            #""last_used_step":1"#, #""last_used_step":-1,"bogus":1"#, #""allow_short_key":true"#,
        ] {
            let body = #"{"type":"totp","key":"\#(Self.key)",\#(members)}"#
            let reply = try await fixture.ask("POST", Self.target, body, as: "enrol")
            #expect(reply.status == 403 && reply.problem == "missing-scope")
            #expect(reply.text("scope") == "import")
            bodies.insert(reply.response.body.text)
        }
        #expect(bodies.count == 1)
        #expect(fixture.store.commits == before)
    }

    @Test("a request with a key but without an import's fields is an enrolment")
    func enrolmentWithKey() async throws {
        let fixture = try await ServiceFixture()
        let body = #"{"type":"totp","issuer":"A","account":"b","key":"\#(Self.key)"}"#
        for (name, subject) in [("enrol", "alice"), ("all", "bob")] {
            let fields = name == "all" ? body.replacing("PXPJ", with: "PXPK") : body
            let reply = try await fixture.ask(
                "POST", "/v1/subjects/\(subject)/credentials", fields, as: name)
            #expect(reply.status == 201 && reply.text("state") == "pending")
            #expect(reply.text("uri")?.contains("secret=JBSW") == true)
        }
        let kinds = try await Self.events(fixture).compactMap { $0.kind }
        #expect(kinds.suffix(2) == ["enrolmentStarted", "enrolmentStarted"])
    }

    @Test("repeating an import with the same Idempotency-Key returns the same response")
    func repeated() async throws {
        let fixture = try await ServiceFixture()
        let body = #"{"type":"totp","key":"\#(Self.key)","confirmed":true}"#
        let headers = ["Idempotency-Key": "\"import-1\""]
        let first = try await fixture.ask("POST", Self.target, body, headers: headers)
        let second = try await fixture.ask("POST", Self.target, body, headers: headers)
        #expect(first.status == 201 && second.status == 201)
        #expect(first.response.body.text == second.response.body.text)
        let third = try await fixture.ask("POST", Self.target, body)
        #expect(third.status == 409 && third.problem == "key-in-use")
    }

    @Test("V-05 H-01 imports have their own events, which mark short keys and contain no secret")
    func recorded() async throws {
        let fixture = try await ServiceFixture()
        for (subject, members) in [
            ("a", #""key":"\#(Self.key)","confirmed":true"#),
            ("b", #""key":"\#(Self.shortKey)","allow_short_key":true"#),
        ] {
            let reply = try await fixture.ask(
                "POST", "/v1/subjects/\(subject)/credentials", #"{"type":"totp",\#(members)}"#)
            #expect(reply.status == 201)
            #expect(!reply.response.body.text.contains("JBSW"))
        }
        let events = try await Self.events(fixture).suffix(2)
        #expect(events.map(\.kind) == ["imported", "importStarted"])
        #expect(events.map(\.reason) == [nil, "shortKey"])
        let log = fixture.log.map { $0.rendered().text }.joined()
        let all = try await fixture.ask("GET", "/v1/events?limit=1000").response.body.text
        for secret in [Self.key, Self.shortKey] {
            #expect(!log.contains(secret) && !all.contains(secret))
        }
    }

    private static func events(
        _ fixture: ServiceFixture
    ) async throws -> [(kind: String?, reason: String?)] {
        let reply = try await fixture.ask("GET", "/v1/events?limit=1000")
        return try #require(reply.json?["events"]?.elements).map {
            (kind: $0["kind"]?.string, reason: $0["reason"]?.string)
        }
    }
}
