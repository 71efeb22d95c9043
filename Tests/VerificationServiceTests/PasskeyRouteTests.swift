import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

/// The routes of passkeys, except for the ceremonies in `Vectors/http`.
struct PasskeyRouteTests {
    private let page = ["Origin": "https://mill.example"]

    @Test("after a step-up on a page, the login tells the application which proof is missing")
    func pageStepUp() async throws {
        let floor = try #require(PolicyFloor(["backup=step-up"]))
        let fixture = try await ServiceFixture(passkeys: .forTests(floor: floor))
        let driver = fixture.driver
        var passkey = try TestPasskey()
        passkey.flags = 0x0d
        let begun = try await driver.register(passkey)
        passkey.userHandle = begun.userHandle
        let reply = try await driver.signInOnPage(passkey)
        #expect(reply.result == "step-up")
        let (login, device) = (
            try #require(reply.text("login")), try #require(reply.text("device"))
        )
        let redeemed = try await fixture.ask(
            "POST", "/v1/logins/redeem", #"{"login":"\#(login)"}"#)
        #expect(redeemed.result == "step-up" && redeemed.text("subject") == "alice")
        #expect(redeemed.json?["step_up"]?.elements?.compactMap(\.string) == ["new-device"])
        let verification = try #require(redeemed.text("verification"))
        let done = try await fixture.ask(
            "POST", "/v1/credentials/\(begun.credential)/step-up",
            #"{"verification":"\#(verification)"}"#)
        #expect(done.result == "accepted")
        #expect(
            try await driver.signInOnPage(passkey, #","device":"\#(device)""#).result == "accepted")
    }

    @Test("a policy below the floor is refused; a missing member is at least the floor")
    func floor() async throws {
        let floor = try #require(
            PolicyFloor(["user_verification=preferred", "counter=step-up", "backup=step-up"]))
        let fixture = try await ServiceFixture(passkeys: .forTests(floor: floor))
        for (policy, isPermitted) in [
            (#"{"user_verification":"discouraged"}"#, false), (#"{"counter":"signal"}"#, false),
            (#"{"backup":"any"}"#, false), (#"{"user_verification":"preferred"}"#, true),
            (#"{"counter":"deny","backup":"device-bound"}"#, true), ("{}", true),
        ] {
            let reply = try await fixture.ask(
                "POST", "/v1/ceremonies", #"{"type":"passkey","policy":\#(policy)}"#)
            #expect(reply.status == (isPermitted ? 201 : 422), "\(policy)")
            #expect(reply.problem == (isPermitted ? nil : "weak-policy"))
        }
        let standard = try floor.policy(nil)
        #expect(standard == PasskeyPolicy(backup: .stepUp, counter: .stepUp))
        for text in ["backup", "backup=all", "x=any", "backup=any=any", ""] {
            #expect(PolicyFloor([text]) == nil)
        }
        #expect(PolicyFloor(["backup=any", "backup=any"]) == nil)
    }

    @Test("K-68 a request from a different page or without an origin is refused")
    func foreignPages() async throws {
        let fixture = try await ServiceFixture()
        let driver = fixture.driver
        let ticket = try PasskeyDriver.member("ticket", try await driver.issueTicket())
        let commits = fixture.store.commits
        for origin in [
            nil, "null", "", "https://evil.example", "https://mill.example.evil",
            "https://shop.mill.example", "http://mill.example", "https://mill.example:444",
            "https://mill.example/", "https://mill.example.", "https://MILL.example",
        ] {
            for (route, body) in [
                ("ceremonies", #"{"ticket":"\#(ticket)"}"#), ("registrations", "{}"),
                ("assertions", "{}"),
            ] {
                let reply = try await fixture.ask(
                    "POST", "/v1/browser/\(route)", body, as: nil,
                    headers: origin.map { ["Origin": $0] } ?? [:])
                #expect(reply.status == 403 && reply.problem == "foreign-origin", "\(route)")
            }
        }
        #expect(fixture.store.commits == commits)
        for origin in ["https://mill.example", "https://login.mill.example:8443"] {
            let reply = try await fixture.ask(
                "POST", "/v1/browser/ceremonies", #"{"ticket":"\#(ticket)"}"#, as: nil,
                headers: ["Origin": origin])
            #expect(reply.status == 201)
        }
    }

    @Test("without --pages, the pages' routes and tickets for them are refused")
    func withoutPages() async throws {
        let fixture = try await ServiceFixture(pages: nil)
        let reply = try await fixture.ask(
            "POST", "/v1/browser/ceremonies", "{}", as: nil, headers: page)
        #expect(reply.status == 404 && reply.problem == "not-configured")
        #expect(reply.text("option") == "pages")
        let ticket = try await fixture.driver.issueTicket()
        #expect(ticket.problem == "not-configured")
    }

    @Test(
        "V-06 K-66 no response reveals whether a subject exists, even to a sender with its ids")
    func madeUpIDs() async throws {
        let fixture = try await ServiceFixture()
        let driver = fixture.driver
        var passkey = try TestPasskey(id: [UInt8](repeating: 3, count: 32))
        try await driver.register(passkey)
        passkey.signature = [0]
        passkey.userHandle = [UInt8](repeating: 1, count: 32)
        var seen: Set<String> = []
        for subject in ["alice", "nobody"] {
            let options = try await driver.beginCeremony(for: subject).options
            let id = options?["allowCredentials"]?.elements?.first?["id"]?.string ?? ""
            passkey.id = try Base64URL.decode(Array(id.utf8).span)
            for reply in [
                try await driver.signInOnPage(passkey),
                try await driver.signIn(passkey, as: subject),
            ] {
                let names = reply.json?.members?.map(\.0).filter { $0 != "reason" } ?? []
                seen.insert("\(reply.status) \(names) \(reply.result ?? "")")
            }
        }
        #expect(seen == [#"200 ["verification", "result"] denied"#])
        // A browser should forget an id that was never registered, and an id that was revoked.
        passkey.id = [4, 5, 6]
        let reply = try await driver.signInOnPage(passkey)
        #expect(reply.json?["signal"]?["credentialId"]?.string == "BAUG")
        #expect(reply.json?["signal"]?["rpId"]?.string == "mill.example")
    }

    @Test(
        "a browser may add any JSON to its object, but known members must exist and be well-formed")
    func openObject() async throws {
        let fixture = try await ServiceFixture()
        let driver = fixture.driver
        let passkey = try TestPasskey()
        try await driver.register(passkey)
        func reply(_ edit: (String) -> String) async throws -> PasskeyDriver.Reply {
            let ceremony = try await driver.beginCeremony()
            let response = edit(try passkey.signedJSON(ceremony.challenge))
            return try await driver.send(
                .application, "/v1/assertions",
                #"{"ceremony":"\#(ceremony.token)","response":\#(response)}"#)
        }
        let more = #""later":[null,1.5,{"a":{"b":{"c":{"d":18446744073709551616}}}}],"#
        #expect(try await reply { $0 }.result == "accepted")
        #expect(try await reply { "{" + more + $0.dropFirst() }.result == "accepted")
        #expect(
            try await reply { $0.replacing(#""response":{"#, with: #""response":{"# + more) }
                .result == "accepted")
        #expect(
            try await reply {
                $0.replacing(#""response":{"#, with: #""response":{"userHandle":null,"#)
            }
            .result == "accepted")
        for (good, bad, problem, field) in [
            (#""type":"public-key""#, #""type":"password""#, "invalid-field", "response.type"),
            (#","rawId""#, #","raw""#, "missing-field", "response.rawId"),
            (
                #""authenticatorData""#, #""data""#, "missing-field",
                "response.response.authenticatorData"
            ),
            (#""signature":""#, #""signature":"="#, "invalid-field", "response"),
            (#""rawId":"Bw"#, #""rawId":"Bx"#, "invalid-field", "response"),
            (#""clientDataJSON":""#, #""clientDataJSON":"="#, "invalid-field", "response"),
        ] {
            let reply = try await reply { $0.replacing(good, with: bad) }
            #expect(reply.status == 400 && reply.problem == problem, "\(bad)")
            #expect(reply.text("field") == field)
        }
        // A malformed request spends nothing.
        let ceremony = try await driver.beginCeremony()
        _ = try await driver.send(
            .application, "/v1/assertions",
            #"{"ceremony":"\#(ceremony.token)","response":{}}"#)
        #expect(try await driver.finish(ceremony, passkey).result == "accepted")
    }

    @Test("a repeated request gets the recorded response; each sender has its own idempotency keys")
    func idempotency() async throws {
        let fixture = try await ServiceFixture()
        var passkey = try TestPasskey()
        passkey.userHandle = try await fixture.driver.register(passkey).userHandle
        func begun() async throws -> String {
            let ceremony = try PasskeyDriver.ceremony(try await fixture.driver.beginOnPage())
            let response = try passkey.signedJSON(ceremony.challenge)
            return #"{"ceremony":"\#(ceremony.token)","response":\#(response)}"#
        }
        let headers = page.merging(["Idempotency-Key": "one"]) { $1 }
        let body = try await begun()
        func ask(_ body: String) async throws -> Reply {
            try await fixture.ask(
                "POST", "/v1/browser/assertions", body, as: nil, headers: headers)
        }
        let first = try await ask(body)
        #expect(first.result == "accepted")
        #expect(try await ask(body).response.body.text == first.response.body.text)
        #expect(try await ask(try await begun()).result == "accepted")
        // A page that has presented no token cannot be recognised, and gets a new ceremony each
        // time.
        let begins = try await [0, 1].asyncMap { _ in
            try await fixture.ask(
                "POST", "/v1/browser/ceremonies", "{}", as: nil, headers: headers
            ).text("ceremony")
        }
        #expect(begins[0] != begins[1])
    }
}

extension Array {
    fileprivate func asyncMap<Value>(
        _ transform: (Element) async throws -> Value
    ) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
