import PasskeyVerification
import ServiceTranscripts
import Synchronization
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

/// Floods, races and wrong clocks on the routes of passkeys.
struct PasskeyLimitTests {
    private static let page = ["Origin": "https://mill.example"]

    private func events(_ kind: String, in fixture: ServiceFixture) async throws -> Int {
        let reply = try await fixture.ask("GET", "/v1/events?limit=1000")
        return (reply.json?["events"]?.elements ?? []).count { $0["kind"]?.string == kind }
    }

    @Test(
        "V-06 N-21 a flood of wrong signatures from a page fills neither the audit log nor the disk"
    )
    func flood() async throws {
        let rate = try #require(AddressRate(perSecond: 1_000, burst: 10_000))
        let fixture = try await ServiceFixture(addressRate: rate)
        let driver = fixture.driver
        var passkey = try TestPasskey()
        passkey.userHandle = try await driver.register(passkey).userHandle
        let good = passkey
        passkey.signsOtherData = true
        var statuses: [Int: Int] = [:]
        for number in 0..<80 {
            let ceremony = try PasskeyDriver.ceremony(try await driver.beginOnPage())
            let response = try passkey.signedJSON(ceremony.challenge)
            let reply = try await fixture.ask(
                "POST", "/v1/browser/assertions",
                #"{"ceremony":"\#(ceremony.token)","response":\#(response)}"#, as: nil,
                headers: Self.page.merging(["Idempotency-Key": "key-\(number)"]) { $1 })
            statuses[reply.status, default: 0] += 1
        }
        #expect(statuses == [200: 60, 429: 20])
        #expect(try await events("denied", in: fixture) == 1)
        // The holder of the passkey is not locked out.
        #expect(try await driver.signInOnPage(good).result == "accepted")
    }

    @Test("a denial spends its challenge even if the sender has to wait for the next response")
    func spentByRefusal() async throws {
        let fixture = try await ServiceFixture()
        let driver = fixture.driver
        var passkey = try TestPasskey()
        passkey.userHandle = try await driver.register(passkey).userHandle
        let ticket = try PasskeyDriver.member("ticket", try await driver.issueTicket(for: "bob"))
        let begun = try PasskeyDriver.challenge(try await driver.beginOnPage(ticket: ticket))
        let ceremony = try PasskeyDriver.ceremony(try await driver.beginOnPage())
        let junk = "wwt_" + String(repeating: "A", count: 43)
        for _ in 0..<61 { _ = try await driver.beginOnPage(ticket: junk) }
        #expect(try await driver.beginOnPage(ticket: junk).status == 429)
        // A registration comes from a different origin, and a signature is wrong.
        let his = try TestPasskey(id: [1])
        var bad = his
        bad.origin = "https://evil.example"
        #expect(try await driver.registerOnPage(ticket, begun, bad).status == 429)
        var forged = passkey
        forged.signsOtherData = true
        func finish(_ passkey: TestPasskey) async throws -> PasskeyDriver.Reply {
            let response = try passkey.signedJSON(ceremony.challenge)
            return try await driver.send(
                .page, "/v1/browser/assertions",
                #"{"ceremony":"\#(ceremony.token)","response":\#(response)}"#)
        }
        #expect(try await finish(forged).status == 429)
        // A minute later, the correct responses to the same challenges are too late.
        fixture.clock.advance(seconds: 60)
        #expect(try await driver.registerOnPage(ticket, begun, his).result == "denied")
        #expect(try await finish(passkey).result == "denied")
        #expect(try await driver.signInOnPage(passkey).result == "accepted")
    }

    @Test("an application with many users at one address does not have to wait after their denials")
    func sharedAddress() async throws {
        let fixture = try await ServiceFixture()
        let driver = fixture.driver
        let passkey = try TestPasskey()
        try await driver.register(passkey)
        let ceremony = try await driver.beginCeremony()
        #expect(try await driver.finish(ceremony, passkey).result == "accepted")
        for _ in 0..<70 { #expect(try await driver.finish(ceremony, passkey).status == 200) }
        #expect(try await driver.signIn(passkey).result == "accepted")
    }

    @Test("the same request at two nodes at once gets one response")
    func repeatedAtOnce() async throws {
        let fixture = try await ServiceFixture()
        let passkey = try TestPasskey()
        try await fixture.driver.register(passkey)
        let ceremony = try await fixture.driver.beginCeremony()
        let response = try passkey.signedJSON(ceremony.challenge)
        let body = #"{"ceremony":"\#(ceremony.token)","response":\#(response)}"#
        @Sendable func ask() async throws -> Reply {
            try await fixture.ask(
                "POST", "/v1/assertions", body, headers: ["Idempotency-Key": "one"])
        }
        // The second request decides while the first one is between the lookup of a recorded
        // response and the lookup of the challenge.
        let second = Mutex<String?>(nil)
        fixture.store.interruptNextAnswer {
            let said = try? await ask().response.body.text
            second.withLock { $0 = said }
        }
        let first = try await ask()
        #expect(first.result == "accepted")
        #expect(second.withLock { $0 } == first.response.body.text)
    }

    @Test(
        "a corrected clock and small differences between nodes' clocks do not lock out any passkey")
    func clocks() async throws {
        let fixture = try await ServiceFixture()
        let driver = fixture.driver
        for (number, correction) in [Int64(3), 3_600].enumerated() {
            let passkey = try TestPasskey(id: [UInt8(number)])
            try await driver.register(passkey)
            fixture.clock.advance(seconds: -correction)
            #expect(try await driver.signIn(passkey).result == "accepted", "\(correction)")
        }
    }

    @Test("cancelled registrations do not block the subject: a new one replaces the oldest")
    func cancelled() async throws {
        let fixture = try await ServiceFixture()
        let driver = fixture.driver
        let first = try await driver.begin()
        fixture.clock.advance(seconds: 1)
        let second = try await driver.begin()
        fixture.clock.advance(seconds: 1)
        for _ in 2..<32 { _ = try await driver.begin() }
        #expect(try await driver.issueTicket().status == 201)
        #expect(try await driver.finish(first, TestPasskey(id: [1])).result == "denied")
        #expect(try await driver.finish(second, TestPasskey(id: [2])).result == "accepted")
        fixture.clock.advance(seconds: 600)
        for isOnPage in [false, true] {
            if isOnPage {
                #expect(try await driver.issueTicket().status == 201)
            } else {
                let begun = try await driver.begin()
                #expect(try await driver.finish(begun, TestPasskey()).result == "accepted")
            }
        }
        #expect(try await driver.finish(first, TestPasskey(id: [1])).result == "denied")
        #expect(try await driver.signIn(TestPasskey()).result == "denied")
    }

    @Test("a ceremony is for the domain that the application or the page's address specifies")
    func domains() async throws {
        let fixture = try await ServiceFixture()
        let reply = try await fixture.ask(
            "POST", "/v1/ceremonies", #"{"type":"passkey","rp_id":"other.example"}"#)
        #expect(reply.problem == "invalid-field" && reply.text("field") == "rp_id")
        let signal = "/v1/subjects/alice/passkeys/signal"
        #expect(try await fixture.ask("GET", signal + "?rp=0").status == 200)
        #expect(try await fixture.ask("GET", signal + "?rp=1").problem == "malformed-query")
        let origins = ["https://new.example", "https://a.old.example"]
        let moved = PasskeySettings(
            relyingParty: try RelyingParty(
                ids: ["new.example", "old.example"], name: "Mill", origins: origins),
            origins: origins)
        let other = try await ServiceFixture(passkeys: moved)
        for (origin, id) in zip(origins, ["new.example", "old.example"]) {
            let begun = try await other.ask(
                "POST", "/v1/browser/ceremonies", "{}", as: nil, headers: ["Origin": origin])
            #expect(begun.json?["options"]?["rpId"]?.string == id)
            let named = try await other.ask(
                "POST", "/v1/ceremonies", #"{"type":"passkey","rp_id":"\#(id)"}"#)
            #expect(named.json?["options"]?["rpId"]?.string == id)
        }
    }

    @Test("V-19 the page routes, which write to the database, have a tenth of the address rate")
    func pageRate() async throws {
        let rate = try #require(AddressRate(perSecond: 20, burst: 40))
        let fixture = try await ServiceFixture(addressRate: rate)
        for status in [201, 201, 201, 201, 429] {
            #expect(try await fixture.driver.beginOnPage().status == status)
        }
        // The rest of the burst remains for other routes.
        let other = try await fixture.ask("GET", "/v1/openapi.json", as: nil)
        #expect(other.status == 200)
        fixture.clock.advance(milliseconds: 500)
        #expect(try await fixture.driver.beginOnPage().status == 201)
        #expect(try await fixture.driver.beginOnPage().status == 429)
    }
}
