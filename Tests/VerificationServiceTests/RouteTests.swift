import OneTimePassword
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

struct RouteTests {
    @Test("the service answers as the transcript specifies", arguments: try HTTPTranscript.all())
    func transcript(_ name: String) async throws {
        let fixture = try await ServiceFixture()
        try await HTTPTranscript(named: name).run(keys: fixture.keys, clock: fixture.clock) {
            await fixture.service.respond(to: $0)
        }
    }

    @Test("H-01 a key of 15 bytes is refused as too short; a key of 16 bytes is accepted")
    func keyLength() async throws {
        let fixture = try await ServiceFixture()
        for (key, status) in [
            (String(repeating: "A", count: 24), 400), ("ABCDEFGHIJKLMNOPQRSTUVWXY4", 201),
        ] {
            let reply = try await fixture.ask(
                "POST", "/v1/subjects/alice/credentials",
                #"{"type":"totp","issuer":"a","account":"b","key":"\#(key)"}"#)
            #expect(reply.status == status)
            if status == 400 { #expect(reply.problem == "key-too-short") }
        }
    }

    @Test("the longest names and key fit into a QR code and into a stored response")
    func longest() async throws {
        let fixture = try await ServiceFixture()
        let name = String(repeating: "é", count: 127)
        let key = String(repeating: "A", count: 207)
        let reply = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials",
            #"{"type":"totp","issuer":"\#(name)","account":"\#(name)","name":"\#(name)","#
                + #""algorithm":"SHA512","digits":8,"period":120,"key":"\#(key)"}"#,
            headers: ["Idempotency-Key": "k"])
        #expect(reply.status == 201)
        // The verifier stores at most 60,000 bytes.
        #expect(reply.response.body.count < 30_000)
        let uri = try #require(reply.text("uri"))
        #expect(uri.utf8.count > 2_331 && uri.utf8.count < 2_953)
    }

    @Test("the second page of the credential list has only the remaining revoked credentials")
    func secondPage() async throws {
        let fixture = try await ServiceFixture()
        let target = "/v1/subjects/alice/credentials"
        var ids: [String?] = []
        for _ in 0..<3 {
            let id = try await fixture.ask("POST", target, #"{"type":"recovery"}"#)
                .text("credential")
            ids.append(id)
            fixture.clock.advance(seconds: 1)
        }
        // Each new set revoked the previous set.
        func page(_ query: String) async throws -> (ids: [String?], next: UInt64?) {
            let json = try await fixture.ask("GET", target + query).json
            let listed = json?["credentials"]?.elements ?? []
            return (listed.map { $0["credential"]?.string }, json?["next"]?.wholeNumber)
        }
        let first = try await page("?limit=1")
        #expect(first.ids == [ids[2], ids[1]])
        let second = try await page("?limit=1&after=\(try #require(first.next))")
        #expect(second.ids == [ids[0]] && second.next == nil)
    }

    @Test("T-04 a key that another credential uses is refused")
    func keyInUse() async throws {
        let fixture = try await ServiceFixture()
        let body =
            #"{"type":"totp","issuer":"a","account":"b","key":"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"}"#
        #expect(try await fixture.ask("POST", "/v1/subjects/a/credentials", body).status == 201)
        let second = try await fixture.ask("POST", "/v1/subjects/b/credentials", body)
        #expect(second.status == 409 && second.problem == "key-in-use")
    }

    @Test("H-03 N-02 digits and periods outside the standards' ranges are rejected")
    func ranges() async throws {
        let fixture = try await ServiceFixture()
        for (field, status) in [
            (#""digits":6"#, 201), (#""digits":8"#, 201), (#""digits":5"#, 400),
            (#""digits":9"#, 400), (#""period":1"#, 201), (#""period":120"#, 201),
            (#""period":121"#, 400), (#""period":0"#, 400), (#""period":-30"#, 400),
            (#""period":9223372036854775807"#, 400), (#""algorithm":"SHA512""#, 201),
            (#""algorithm":"MD5""#, 400), (#""algorithm":"sha1""#, 400),
        ] {
            let reply = try await fixture.ask(
                "POST", "/v1/subjects/alice/credentials",
                #"{"type":"totp","issuer":"a","account":"b",\#(field)}"#)
            #expect(reply.status == status, "\(field)")
        }
    }

    @Test(
        "a code for an unknown credential gets status 404",
        arguments: [
            ("confirm", #"{"code":"123456"}"#), ("resync", #"{"codes":["123456","234567"]}"#),
        ])
    func noSuchCredential(route: String, body: String) async throws {
        let fixture = try await ServiceFixture()
        let id = CredentialID.anywhere().text
        let reply = try await fixture.ask("POST", "/v1/credentials/\(id)/\(route)", body)
        #expect(reply.status == 404 && reply.problem == "unknown-credential")
    }

    @Test("H-19 a counter from the client replaces the look-ahead window")
    func clientCounter() async throws {
        let fixture = try await ServiceFixture()
        let reply = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials",
            #"{"type":"hotp","issuer":"ACME","account":"alice"}"#)
        let uri = try #require(reply.text("uri"))
        let id = try #require(reply.text("credential"))
        let credential = try KeyURI(parsing: Array(uri.utf8).span).credential
        func code(_ counter: UInt64) throws -> String {
            try credential.code(counter: counter).text
        }
        _ = try await fixture.ask(
            "POST", "/v1/credentials/\(id)/confirm", #"{"code":"\#(try code(0))"}"#)
        func verify(_ code: String, counter: Int) async throws -> String? {
            try await fixture.ask(
                "POST", "/v1/verifications",
                #"{"subject":"alice","code":"\#(code)","counter":\#(counter)}"#
            ).result
        }
        #expect(try await verify(try code(3), counter: 2) == "denied")
        #expect(try await verify(try code(3), counter: 3) == "accepted")
        #expect(try await verify(try code(3), counter: 3) == "denied")
        #expect(try await verify(try code(30), counter: 30) == "denied")
    }

    @Test("N-05 a seed leaves the server once, uncached, and cannot be read again")
    func seedOnce() async throws {
        let fixture = try await ServiceFixture()
        let reply = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials",
            #"{"type":"totp","issuer":"ACME","account":"alice"}"#)
        #expect(reply.response.value(of: "Cache-Control") == "no-store")
        let uri = try #require(reply.text("uri"))
        let start = try #require(uri.firstRange(of: "secret="))
        let seed = String(uri[start.upperBound...].prefix { $0 != "&" })
        #expect(seed.utf8.count == 32)
        let id = try #require(reply.text("credential"))
        for (method, target, body) in [
            ("GET", "/v1/subjects/alice/credentials", nil),
            ("GET", "/v1/credentials/\(id)", nil), ("GET", "/v1/events?limit=1000", nil),
            ("PATCH", "/v1/credentials/\(id)", #"{"name":"x"}"#),
            ("POST", "/v1/credentials/\(id)/unlock", nil),
        ] as [(String, String, String?)] {
            let again = try await fixture.ask(method, target, body)
            #expect(!again.response.body.text.contains(seed))
            #expect(again.response.value(of: "Cache-Control") == "no-store")
        }
    }

    @Test(
        "V-14 any factor can be revoked at once, and closing an account revokes all of its factors")
    func revocation() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        #expect(try await fixture.ask("DELETE", "/v1/credentials/\(alice.id)").status == 204)
        #expect(try await fixture.verify("alice", code).result == "denied")
        let list = try await fixture.ask("GET", "/v1/subjects/alice/credentials")
        #expect(list.json?["credentials"]?.elements?.first?["state"]?.string == "revoked")
        let bob = try await fixture.enrolled("bob")
        #expect(try await fixture.ask("DELETE", "/v1/subjects/bob").status == 204)
        let spent = try fixture.code(of: bob)
        #expect(try await fixture.verify("bob", spent).text("reason") == "unknown")
    }

    @Test("P-03 every response forbids caching")
    func noStore() async throws {
        let fixture = try await ServiceFixture()
        for route in RouteTable.all {
            for method in ["GET", "POST", "PATCH", "DELETE", "OPTIONS", "HEAD", "PUT"] {
                for key in ["all", "none"] {
                    let reply = try await fixture.ask(
                        method, AccessTests.target(of: route), "{}", as: key)
                    #expect(reply.response.value(of: "Cache-Control") == "no-store")
                    #expect(reply.response.value(of: "Request-Id")?.count == 19)
                    #expect(reply.status < 500)
                }
            }
        }
    }

    @Test("P-01 each response with status 400 or above has a problem body: type, title and status")
    func problems() async throws {
        let fixture = try await ServiceFixture()
        for (method, target, body, key) in [
            ("GET", "/nowhere", nil, nil), ("GET", "/%", nil, nil), ("GET", "/v1/events", nil, nil),
            ("GET", "/v1/events", nil, "verify"), ("PUT", "/v1/events", nil, "all"),
            ("POST", "/v1/verifications", "{", "all"), ("GET", "/v1/events?x=1", nil, "all"),
            ("DELETE", "/v1/credentials/cr_AAAAAAAAAAAAAAAAAAAAAA", nil, "all"),
        ] as [(String, String, String?, String?)] {
            let reply = try await fixture.ask(method, target, body, as: key)
            #expect(reply.response.value(of: "Content-Type") == "application/problem+json")
            #expect(reply.json?["status"]?.wholeNumber == UInt64(reply.status))
            #expect(reply.text("type")?.hasPrefix("urn:watchword:problem:") == true)
            #expect(reply.text("title")?.isEmpty == false)
        }
    }
}
