import ServiceTranscripts
import TestSupport
import Testing
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

struct PageTests {
    private static let paths = ["/ui/enrol", "/ui/sign-in", "/ui/page.js", "/ui/page.css"]
    private static let addresses = [
        "https://shop.example/back?a=1&b=2", "http://localhost:8000/back",
    ]

    private func fixture(addressRate: AddressRate = .standard) async throws -> ServiceFixture {
        try await ServiceFixture(
            addressRate: addressRate,
            pages: PageSettings(
                returnAddresses: Self.addresses.compactMap(ReturnAddress.init),
                relatedOrigins: ["https://shop.example"]))
    }

    private func get(
        _ target: String, _ method: String = "GET", from fixture: ServiceFixture
    ) async -> HTTPResponse {
        await fixture.service.respond(
            to: HTTPRequest(
                method: method, target: target, body: SecretBytes(text: ""), peer: "192.0.2.7"))
    }

    private func text(_ response: HTTPResponse) -> String {
        response.body.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    }

    @Test(
        "each file of the pages has its type and the security headers, once each",
        arguments: zip(paths, ["text/html", "text/html", "text/javascript", "text/css"]))
    func headers(_ path: String, _ type: String) async throws {
        let fixture = try await fixture()
        for method in ["GET", "HEAD"] {
            let response = await get(path, method, from: fixture)
            #expect(response.status == 200)
            for (name, value) in [
                ("Content-Type", "\(type); charset=utf-8"),
                (
                    "Content-Security-Policy",
                    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                        + "img-src 'self'; base-uri 'none'; form-action 'none'; "
                        + "frame-ancestors 'none'; require-trusted-types-for 'script'"
                ),
                (
                    "Permissions-Policy",
                    "publickey-credentials-create=(self), publickey-credentials-get=(self)"
                ),
                ("Cross-Origin-Opener-Policy", "same-origin"), ("Referrer-Policy", "no-referrer"),
                ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
            ] {
                #expect(response.headers.values(of: name) == [value])
            }
        }
        #expect(fixture.log.last?.route == path)
    }

    @Test("the related origins are listed")
    func relatedOrigins() async throws {
        let response = await get("/.well-known/webauthn", from: try await fixture())
        #expect(response.value(of: "Content-Type") == "application/json")
        #expect(text(response) == #"{"origins":["https://shop.example"]}"#)
    }

    @Test("K-68 a page returns only to an address in the list, specified by its position")
    func returnAddresses() async throws {
        let fixture = try await fixture()
        for page in ["/ui/enrol", "/ui/sign-in"] {
            let plain = text(await get(page, from: fixture))
            #expect(plain.contains(#"<meta name="return-to" content="">"#))
            let first = text(await get(page + "?return=0&state=%22%3E", from: fixture))
            #expect(
                first.contains(
                    #"<meta name="return-to" content="https://shop.example/back?a=1&amp;b=2">"#))
            #expect(first.utf8.count == plain.utf8.count + Self.addresses[0].utf8.count + 4)
            #expect(
                text(await get(page + "?return=1", from: fixture)).contains(Self.addresses[1]))
            for query in [
                "return=2", "return=-1", "return=00", "return=", "return=0&return=1",
                "return=https:%2F%2Fevil.example", "other=1", "state=1&state=2",
            ] {
                let response = await get("\(page)?\(query)", from: fixture)
                #expect(response.status == 400)
                #expect(text(response).contains("malformed-query"))
            }
        }
        #expect(await get("/ui/page.js?return=0", from: fixture).status == 400)
    }

    @Test(
        "a server without pages has no page routes, and one with pages has exactly the listed ones")
    func unknown() async throws {
        let plain = try await ServiceFixture(pages: nil)
        let fixture = try await fixture()
        for path in Self.paths + ["/.well-known/webauthn"] {
            #expect(await get(path, from: plain).status == 404)
            #expect(await get(path, from: fixture).status == 200)
        }
        for path in ["/ui", "/ui/", "/ui/enrol/", "/ui%2Fenrol", "/UI/enrol", "/ui/../ui/enrol"] {
            #expect(await get(path, from: fixture).status == 404)
        }
    }

    @Test("the pages are read-only, and OPTIONS returns the methods")
    func methods() async throws {
        let fixture = try await fixture()
        let options = await get("/ui/enrol", "OPTIONS", from: fixture)
        #expect(options.status == 204 && options.value(of: "Allow") == "GET, HEAD, OPTIONS")
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            let response = await get("/ui/enrol", method, from: fixture)
            #expect(response.status == 405 && response.value(of: "Allow") == "GET, HEAD, OPTIONS")
        }
    }

    @Test("the address rate applies to the pages")
    func rate() async throws {
        let fixture = try await fixture(
            addressRate: try #require(AddressRate(perSecond: 1, burst: 2)))
        var statuses: [Int] = []
        for _ in 1...3 { statuses.append(await get("/ui/enrol", from: fixture).status) }
        #expect(statuses == [200, 200, 429])
    }

    @Test(
        "a return address uses https, or http for localhost",
        arguments: [
            "https://shop.example", "https://shop.example:8443/a/b?c=d&e", "https://[::1]/",
            "http://localhost", "http://localhost:8000/back",
        ])
    func accepted(_ text: String) {
        #expect(ReturnAddress(text)?.text == text)
    }

    @Test(
        "any other return address is refused",
        arguments: [
            "", "shop.example", "http://shop.example/", "http://localhost.evil.example/",
            "https://", "https:///a", "https:/shop.example", "javascript:alert(1)//x/",
            "https://user@shop.example/", "https://shop.example/#a", "https://shop.example/\"",
            "https://shop.example/<", "https://shop.example/ ", "https://shop.example/\\",
            "https://shop.example/'", "HTTPS://shop.example/", "https://shöp.example/",
            "https://shop.example?x@evil.example/",
        ])
    func refused(_ text: String) {
        #expect(ReturnAddress(text) == nil)
    }
}
