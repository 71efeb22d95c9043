import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

@testable import VerificationService

struct AccessTests {
    @Test("V-03 a new service has no clients: scoped routes reject requests with or without a key")
    func noDefaultAccounts() async throws {
        let fixture = try await ServiceFixture()
        for client in try await fixture.verifier.clients() {
            _ = try await fixture.verifier.revokeClient(client.id)
        }
        for route in RouteTable.all {
            guard case .scope = route.access else { continue }
            for key in [nil, "all"] as [String?] {
                let reply = try await fixture.ask(
                    route.method.rawValue, Self.target(of: route), route.body == nil ? nil : "{}",
                    as: key)
                #expect(reply.status == 401 && reply.problem == "unauthenticated")
                #expect(reply.response.value(of: "WWW-Authenticate")?.hasPrefix("Bearer ") == true)
                #expect(!reply.response.isAuthenticated)
            }
        }
    }

    /// The expected scope of each route, written by hand; `nil` for routes without one.
    private static let scopesByHand: [String: String?] = [
        "POST /v1/subjects/{subject}/credentials": "enrol",
        "GET /v1/subjects/{subject}/credentials": "manage",
        "GET /v1/subjects": "manage",
        "GET /v1/subjects/{subject}": "read",
        "GET /v1/subjects/{subject}/events": "audit",
        "DELETE /v1/subjects/{subject}": "manage",
        "PATCH /v1/credentials/{credential}": "manage",
        "DELETE /v1/credentials/{credential}": "manage",
        "POST /v1/credentials/{credential}/confirm": "enrol",
        "POST /v1/credentials/{credential}/resync": "manage",
        "POST /v1/credentials/{credential}/unlock": "manage",
        "POST /v1/verifications": "verify",
        "POST /v1/logins/redeem": "verify",
        "POST /v1/device/enrolments": nil,
        "POST /v1/device/logins": nil,
        "POST /v1/credentials/{credential}/registration": "enrol",
        "POST /v1/ceremonies": "verify",
        "POST /v1/assertions": "verify",
        "POST /v1/credentials/{credential}/step-up": "verify",
        "GET /v1/subjects/{subject}/passkeys/signal": "manage",
        "POST /v1/browser/ceremonies": nil,
        "POST /v1/browser/registrations": nil,
        "POST /v1/browser/assertions": nil,
        "POST /v1/challenges": "verify",
        "POST /v1/device/keys": nil,
        "POST /v1/device/keys/activation": nil,
        "POST /v1/device/challenges": nil,
        "POST /v1/device/signatures": nil,
        "GET /v1/events": "audit",
        "GET /v1/openapi.json": nil,
    ]

    @Test(
        "each route accepts only its own scope; device routes and the API description need no scope"
    )
    func scopes() async throws {
        let fixture = try await ServiceFixture()
        let routes = RouteTable.all.map { "\($0.method.rawValue) \($0.template)" }
        #expect(Set(routes) == Set(Self.scopesByHand.keys))
        let words = ["verify", "enrol", "import", "manage", "reasons", "audit", "read"]
        #expect(Set(words) == Set(Scope.allCases.map(\.rawValue)))
        for route in RouteTable.all {
            let name = "\(route.method.rawValue) \(route.template)"
            let body = route.body == nil ? nil : "{}"
            guard let needed = try #require(Self.scopesByHand[name]) else {
                let open = try await fixture.ask(
                    route.method.rawValue, Self.target(of: route), body, as: nil,
                    headers: ["Origin": "https://mill.example"])
                #expect(open.status != 401 && open.status != 403, "\(name)")
                #expect(!open.response.isAuthenticated)
                continue
            }
            for word in words + ["none"] {
                let reply = try await fixture.ask(
                    route.method.rawValue, Self.target(of: route), body, as: word)
                #expect(reply.response.isAuthenticated)
                if word == needed {
                    #expect(reply.status != 401 && reply.status != 403, "\(name)")
                } else {
                    #expect(reply.status == 403 && reply.problem == "missing-scope", "\(name)")
                    #expect(reply.text("scope") == needed)
                }
            }
        }
    }

    @Test(
        "a missing, malformed or unknown API key, or one of a different scheme, gets the same refusal",
        arguments: [
            nil, "Bearer", "Bearer ", "Bearer wwk_", "Basic YTpi", "wwk_AAAA",
            "Bearer wwk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "Bearer  wwk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ])
    func badKeys(_ value: String?) async throws {
        let fixture = try await ServiceFixture()
        let request = HTTPRequest(
            method: "GET", target: "/v1/events",
            authorization: value.map { SecretBytes(text: $0) }, body: SecretBytes(text: ""),
            peer: "192.0.2.1")
        let reply = try await fixture.send(request)
        #expect(reply.status == 401 && reply.problem == "unauthenticated")
    }

    @Test(
        "the authorization scheme is case-insensitive; a key with added or missing text is refused")
    func authorizationForms() async throws {
        let fixture = try await ServiceFixture()
        let key = try #require(fixture.keys["audit"]).text
        for (value, status) in [
            ("Bearer \(key)", 200), ("bEARER \(key)", 200), ("Bearer \(key) ", 401),
            ("Bearer \(key), Bearer x", 401), ("Bearer \(key)A", 401),
            ("Bearer \(key.dropLast())", 401),
        ] {
            let reply = try await fixture.send(
                HTTPRequest(
                    method: "GET", target: "/v1/events",
                    authorization: SecretBytes(text: value),
                    body: SecretBytes(text: ""), peer: ""))
            #expect(reply.status == status)
        }
    }

    @Test("V-25 a revoked API key is rejected at the next request; a key has 256 bits")
    func revocation() async throws {
        let fixture = try await ServiceFixture()
        #expect(try await fixture.ask("GET", "/v1/events", as: "audit").status == 200)
        let client = try #require(
            try await fixture.verifier.clients().first { $0.name == "audit" })
        _ = try await fixture.verifier.revokeClient(client.id)
        #expect(try await fixture.ask("GET", "/v1/events", as: "audit").status == 401)
        #expect(try await fixture.ask("GET", "/v1/events", as: "all").status == 200)
        #expect(Set(fixture.keys.values.map(\.text)).count == fixture.keys.count)
        #expect(fixture.keys.values.allSatisfy { $0.count == 4 + 64 })
    }

    @Test(
        "V-19 requests without a valid API key are limited by address; client requests are not")
    func addressRate() async throws {
        let rate = try #require(AddressRate(perSecond: 1, burst: 3))
        let fixture = try await ServiceFixture(addressRate: rate)
        for _ in 0..<3 {
            #expect(try await fixture.ask("POST", "/v1/device/logins", "{}", as: nil).status == 400)
        }
        for target in ["/v1/device/logins", "/v1/device/enrolments", "/v1/verifications", "/x"] {
            let reply = try await fixture.ask("POST", target, "{}", as: nil)
            #expect(reply.status == 429 && reply.problem == "too-many-requests")
            #expect(reply.response.value(of: "Retry-After") == "1")
        }
        #expect(try await fixture.ask("GET", "/v1/events").status == 200)
        let other = try await fixture.ask(
            "POST", "/v1/device/logins", "{}", as: nil, peer: "192.0.2.8")
        #expect(other.status == 400)
        fixture.clock.advance(seconds: 1)
        #expect(try await fixture.ask("POST", "/v1/device/logins", "{}", as: nil).status == 400)
    }

    @Test(
        "V-19 guesses at an API key are limited by address, whether they are well-formed or not",
        arguments: [nil, "Bearer wwk_", "Bearer wwk_" + String(repeating: "A", count: 43)])
    func guessedKeys(_ value: String?) async throws {
        let rate = try #require(AddressRate(perSecond: 1, burst: 3))
        let fixture = try await ServiceFixture(addressRate: rate)
        func guess(from peer: String) async throws -> Reply {
            try await fixture.send(
                HTTPRequest(
                    method: "GET", target: "/v1/events",
                    authorization: value.map { SecretBytes(text: $0) },
                    body: SecretBytes(text: ""), peer: peer))
        }
        for _ in 0..<3 { #expect(try await guess(from: "192.0.2.7").status == 401) }
        let limited = try await guess(from: "192.0.2.7")
        #expect(limited.status == 429 && limited.problem == "too-many-requests")
        #expect(try await guess(from: "192.0.2.8").status == 401)
        // A client at the same address is not affected.
        #expect(try await fixture.ask("GET", "/v1/events", peer: "192.0.2.7").status == 200)
    }

    @Test("V-19 invalid API keys from an address over its limit cause no database read")
    func guessedKeysAreNotLookedUp() async throws {
        let rate = try #require(AddressRate(perSecond: 1, burst: 3))
        let fixture = try await ServiceFixture(addressRate: rate)
        func guess(_ count: Int) async throws -> Int {
            try await fixture.send(
                HTTPRequest(
                    method: "GET", target: "/v1/events",
                    authorization: SecretBytes(
                        text: "Bearer wwk_" + String(repeating: "A", count: count)),
                    body: SecretBytes(text: ""), peer: "192.0.2.7")
            ).status
        }
        for status in [401, 401, 401, 429] { #expect(try await guess(43) == status) }
        fixture.store.fail(.reads)
        // The limited address's list of keys was read before the store failed.
        #expect(try await guess(43) == 429)
        #expect(try await guess(64) == 429)
        #expect(try await fixture.ask("GET", "/v1/events", peer: "192.0.2.7").status == 503)
    }

    @Test("V-21 a spoofed X-Forwarded-For changes neither the rate limit nor the audit log")
    func spoofedAddress() async throws {
        let rate = try #require(AddressRate(perSecond: 1, burst: 2))
        let proxies = TrustedProxies([try #require(NetworkBlock("10.0.0.0/8"))])
        let fixture = try await ServiceFixture(addressRate: rate, trustedProxies: proxies)
        for number in 0..<2 {
            let reply = try await fixture.ask(
                "POST", "/v1/device/logins", "{}", as: nil,
                headers: ["X-Forwarded-For": "203.0.113.\(number)"], peer: "198.51.100.1")
            #expect(reply.status == 400)
        }
        let limited = try await fixture.ask(
            "POST", "/v1/device/logins", "{}", as: nil,
            headers: ["X-Forwarded-For": "203.0.113.9"], peer: "198.51.100.1")
        #expect(limited.status == 429)
        #expect(fixture.log.last?.address == "198.51.100.1")
        let proxied = try await fixture.ask(
            "POST", "/v1/device/logins", "{}", as: nil,
            headers: ["X-Forwarded-For": "203.0.113.9"], peer: "10.0.0.1")
        #expect(proxied.status == 400)
        #expect(fixture.log.last?.address == "203.0.113.9")
    }

    @Test("over TLS, and only then, every response carries Strict-Transport-Security")
    func strictTransport() async throws {
        for usesTLS in [true, false] {
            let fixture = try await ServiceFixture(usesTLS: usesTLS)
            let key = try #require(fixture.keys["all"]).text
            for (method, target, status) in [
                ("GET", "/v1/events", 200), ("GET", "/ui/enrol", 200),
                ("GET", "/ui/page.js", 200), ("GET", "/nowhere", 404),
                ("OPTIONS", "/v1/events", 204), ("POST", "/v1/verifications", 415),
            ] {
                let reply = await fixture.service.respond(
                    to: HTTPRequest(
                        method: method, target: target,
                        authorization: SecretBytes(text: "Bearer \(key)"),
                        body: SecretBytes(text: ""), peer: ""))
                #expect(reply.status == status, "\(target)")
                #expect(
                    reply.value(of: "Strict-Transport-Security")
                        == (usesTLS ? "max-age=31536000" : nil), "\(target)")
            }
            let refused = fixture.service.refuse(.lengthRequired, peer: "192.0.2.1")
            #expect((refused.value(of: "Strict-Transport-Security") != nil) == usesTLS)
        }
    }

    /// The path of a route with well-formed parameters.
    static func target(of route: Route) -> String {
        route.template.replacing("{subject}", with: "alice")
            .replacing("{credential}", with: "cr_AAAAAAAAAAAAAAAAAAAAAA")
    }
}
