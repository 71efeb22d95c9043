import ServiceTranscripts
import TestSupport
import Testing
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

struct StrictnessTests {
    private static let id = "cr_AAAAAAAAAAAAAAAAAAAAAA"

    @Test(
        "P-04 an invalid body is rejected with the location of the error, never the content",
        arguments: [
            ("", "malformed-body"), ("[]", "malformed-body"), ("nonsense", "malformed-body"),
            (#"{"subject":"a","code":"123456"} x"#, "malformed-body"),
            (#"{"subject":"a","code":"123456","code":"654321"}"#, "doubled-field"),
            (#"{"subject":"a","subject":"b","code":"123456"}"#, "doubled-field"),
            (#"{"subject":"a","code":"123456","name":"kanarie"}"#, "unknown-field"),
            (#"{"subject":"a"}"#, "missing-field"), (#"{"code":"123456"}"#, "missing-field"),
            (#"{"subject":"a","code":123456}"#, "invalid-field"),
            (#"{"subject":"a","code":"123456","credential":null}"#, "invalid-field"),
            (#"{"subject":"","code":"123456"}"#, "invalid-field"),
            (#"{"subject":"a\u0000","code":"123456"}"#, "malformed-body"),
            (#"{"subject":"a","code":"12345"}"#, "invalid-field"),
            (#"{"subject":"a","code":"１２３４５６"}"#, "invalid-field"),
            (#"{"subject":"a","code":" 123456"}"#, "invalid-field"),
            (#"{"subject":"a","code":"\ufeff123456"}"#, "invalid-field"),
            (#"{"subject":"a","code":"123456\u0000"}"#, "malformed-body"),
            (#"{"subject":"a","code":"123456","counter":-1}"#, "invalid-field"),
            (#"{"subject":"a","code":"123456","counter":1.5}"#, "malformed-body"),
            (#"{"subject":"a","code":"123456","counter":9223372036854775808}"#, "malformed-body"),
            (#"{"subject":"a","code":"123456","credential":"cr_x"}"#, "invalid-field"),
            (#"{"subject":{"a":[[[[[[[[1]]]]]]]]},"code":"123456"}"#, "malformed-body"),
        ])
    func bodies(_ body: String, _ problem: String) async throws {
        let fixture = try await ServiceFixture()
        let before = fixture.store.commits
        let reply = try await fixture.ask("POST", "/v1/verifications", body)
        #expect(reply.status == 400 && reply.problem == problem)
        #expect(reply.response.value(of: "Content-Type") == "application/problem+json")
        let said = reply.response.body.text
        #expect(!said.contains("kanarie") && !said.contains("123456") && !said.contains("654321"))
        // The requests changed no state.
        #expect(fixture.store.commits == before)
    }

    @Test(
        "P-04 an error states the position of the invalid field, and its name unless that may be a secret",
        arguments: [
            (#"{"subject":"a", "kode":"123456"}"#, "kode", 16),
            (#"{"code":"123456","subject":"a","subject":"b"}"#, "subject", 31),
            (#"{"subject":"a","code":"123456","x":[{"y":[1],"y":"]}\""}]}"#, "x[0].y", 45),
            (
                #"{"subject":"a","code":"123456","user_display_nickname":1}"#,
                "user_display_nickname", 31
            ),
            ("{ \"subject\" : \"}{,\\\"\",\n\t\"code\" : 1 }", "code", 24),
            (#"{"subject":"a","492039":"code"}"#, nil, 15),
            (#"{"subject":"a","ABCDEFGHIJKLMNOP":"code"}"#, nil, 15),
            (#"{"subject":"a","abcd-efgh-ijkl-mnop":"code"}"#, nil, 15),
            (#"{"subject":"a","wwl_bWlsbC1leGFtcGxlLXRva2VuLW5vdC1h":1}"#, nil, 15),
            (#"{"subject":"a","cøde":1}"#, nil, 15),
            (#"{"subject":"a"}"#, "code", nil),
        ] as [(String, String?, Int?)])
    func places(_ body: String, _ field: String?, _ position: Int?) async throws {
        let fixture = try await ServiceFixture()
        let reply = try await fixture.ask("POST", "/v1/verifications", body)
        #expect(reply.status == 400)
        #expect(reply.text("field") == field)
        #expect(reply.json?["position"]?.wholeNumber == position.map { UInt64($0) })
        #expect(!reply.response.body.text.contains("492039"))
    }

    @Test("P-04 a body of 64 KiB is accepted; one byte more is rejected")
    func bodySize() async throws {
        let fixture = try await ServiceFixture()
        let body = #"{"subject":"a","code":"123456"}"#
        let full = body + String(repeating: " ", count: (64 << 10) - body.utf8.count)
        #expect(try await fixture.ask("POST", "/v1/verifications", full).status == 200)
        let long = try await fixture.ask("POST", "/v1/verifications", full + " ")
        #expect(long.status == 413 && long.problem == "body-too-large")
    }

    @Test("a body needs a JSON content type; a charset parameter is permitted")
    func contentType() async throws {
        let fixture = try await ServiceFixture()
        for (type, status) in [
            ("application/json", 200), ("Application/JSON; charset=utf-8", 200),
            ("application/json;charset=\"UTF-8\"", 200), ("text/plain", 415), ("", 415),
            ("application/json; charset=latin1", 415), ("application/jsonx", 415),
            ("application/x-www-form-urlencoded", 415),
        ] {
            let reply = try await fixture.ask(
                "POST", "/v1/verifications", #"{"subject":"a","code":"123456"}"#,
                headers: ["Content-Type": type])
            #expect(reply.status == status, "\(type)")
        }
    }

    @Test("a route that takes no body or query rejects any body or query")
    func nothingExtra() async throws {
        let fixture = try await ServiceFixture()
        for (method, target) in [
            ("POST", "/v1/credentials/\(Self.id)/unlock"), ("DELETE", "/v1/credentials/\(Self.id)"),
            ("GET", "/v1/events"),
        ] {
            let reply = try await fixture.ask(method, target, "{}")
            #expect(reply.status == 400 && reply.problem == "malformed-body")
        }
        for query in [
            "?x=1", "?after=1&after=2", "?after=-1", "?after=01", "?after=", "?after=1.0",
            "?limit=0", "?limit=1001", "?after=9223372036854775808", "?After=1",
        ] {
            let reply = try await fixture.ask("GET", "/v1/events" + query)
            #expect(reply.status == 400 && reply.problem == "malformed-query", "\(query)")
        }
        #expect(try await fixture.ask("GET", "/v1/events?after=0&limit=1000").status == 200)
        for query in ["?prefix=", "?prefix=a&prefix=b", "?after=%00", "?limit=x"] {
            let reply = try await fixture.ask("GET", "/v1/subjects" + query)
            #expect(reply.problem == "malformed-query" || reply.problem == "malformed-target")
        }
        let letters = try await fixture.ask("GET", "/v1/subjects?prefix=%C3%A9%2F&after=1")
        #expect(letters.status == 200)
        #expect(try await fixture.ask("GET", "/v1/subjects/a/credentials?x=1").status == 400)
    }

    @Test("V-15 no route accepts a time from a client")
    func noClientTime() async throws {
        let words = ["time", "timestamp", "at", "now", "date", "expires_at", "created_at", "step"]
        for route in RouteTable.all {
            let names = (route.body?.shapes ?? []).flatMap(\.fields).map(\.name)
            #expect(Set(names).isDisjoint(with: words), "\(route.template)")
            #expect(route.parameters.allSatisfy { !words.contains($0.name) })
        }
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let future = try fixture.code(of: alice, step: 40)
        let date = "Sun, 22 Nov 2026 12:20:00 GMT"
        let reply = try await fixture.verify("alice", future, headers: ["Date": date])
        #expect(reply.result == "denied")
    }

    @Test("V-27 no response discloses a version, and the API has no monitoring routes")
    func noVersion() async throws {
        let fixture = try await ServiceFixture()
        for target in ["/metrics", "/livez", "/readyz", "/v1/metrics", "/v1/openapi.json"] {
            let reply = try await fixture.ask("GET", target)
            #expect(reply.status == (target.hasSuffix("openapi.json") ? 200 : 404))
            for name in ["Server", "X-Powered-By", "Via"] {
                #expect(reply.response.value(of: name) == nil)
            }
        }
    }

    @Test("V-20 the service never redirects; HEAD and OPTIONS have no side effects")
    func methods() async throws {
        let fixture = try await ServiceFixture()
        for target in ["/v1/verifications/", "//v1/verifications", "/v1", "/"] {
            #expect(try await fixture.ask("POST", target, "{}").status == 404)
        }
        let head = try await fixture.ask("HEAD", "/v1/events")
        let get = try await fixture.ask("GET", "/v1/events")
        #expect(head.status == 200 && head.response.headers.count == get.response.headers.count)
        let options = try await fixture.ask("OPTIONS", "/v1/verifications", as: nil)
        #expect(options.status == 204 && options.response.body.count == 0)
        #expect(options.response.value(of: "Allow") == "POST, OPTIONS")
        let wrong = try await fixture.ask("PUT", "/v1/verifications", "{}", as: nil)
        #expect(wrong.status == 405 && wrong.response.value(of: "Allow") == "POST, OPTIONS")
    }
}
