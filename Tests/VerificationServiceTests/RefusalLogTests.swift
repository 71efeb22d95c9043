import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding

@testable import VerificationService

struct RefusalLogTests {
    private let start = ContinuousClock.now

    private func line(
        _ address: String = "192.0.2.1", _ outcome: String = "unknown-route", request: Int = 0
    ) -> LogLine {
        LogLine(
            time: UnixTime(milliseconds: 0), requestID: "rq_\(request)", method: "GET", route: nil,
            status: 404, outcome: outcome, client: nil, address: address, duration: 1, cause: nil)
    }

    @Test("O-08 refusals are logged once a minute per address and outcome, with their number")
    func counting() {
        let log = RefusalLog(start: start)
        #expect(log.enter(line(), at: start)?.count == 1)
        for second in 1..<60 {
            #expect(log.enter(line(request: second), at: start + .seconds(second)) == nil)
        }
        #expect(log.takeDue(at: start + .seconds(59), all: false) == [])
        let due = log.takeDue(at: start + .seconds(60), all: false)
        #expect(due == [line(request: 59).standing(for: 59)])
        // The due line was also the line of the second minute.
        #expect(log.enter(line(), at: start + .seconds(61)) == nil)
        #expect(log.enter(line(), at: start + .seconds(120))?.count == 2)
        #expect(log.takeDue(at: start + .seconds(125), all: true) == [])
        #expect(log.count == 0)
    }

    @Test("each address and outcome has its own line; an IPv6 /64 counts as one address")
    func kinds() {
        let log = RefusalLog(start: start)
        for written in [
            line(), line("192.0.2.2"), line("192.0.2.1", "unauthenticated"), line("2001:db8::1"),
        ] { #expect(log.enter(written, at: start) == written) }
        #expect(log.enter(line("::ffff:192.0.2.1"), at: start) == nil)
        #expect(log.enter(line("2001:db8::2"), at: start) == nil)
        #expect(log.takeDue(at: start, all: false) == [])
        #expect(log.takeDue(at: start, all: true).count == 2)
    }

    @Test("O-08 changing addresses evades neither the memory limit nor the log limit")
    func manyAddresses() {
        let log = RefusalLog(capacity: 50, start: start)
        var written: [LogLine] = []
        for host in 0..<10_000 {
            let line = line("10.0.\(host / 256).\(host % 256)", request: host)
            if let line = log.enter(line, at: start) { written.append(line) }
        }
        #expect(log.count == 51)
        // Fifty addresses have entries; all other addresses share one.
        #expect(written.count == 51 && written.last?.address == "")
        let rest = log.takeDue(at: start + .seconds(60), all: false)
        #expect(rest.map(\.count) == [9_949] && rest.first?.address == "")
        #expect(log.takeDue(at: start + .seconds(120), all: false) == [])
        #expect(log.count == 0)
    }

    @Test(
        "O-08 a keyless flood is logged once a minute per outcome; every client request is logged")
    func flood() async throws {
        let rate = try #require(AddressRate(perSecond: 1, burst: 20))
        let fixture = try await ServiceFixture(addressRate: rate)
        for _ in 0..<100 {
            _ = try await fixture.ask("GET", "/v1/events", as: nil)
            _ = try await fixture.ask("GET", "/nowhere", as: nil)
            _ = try await fixture.ask("GET", "/v1/openapi.json", as: nil)
            _ = fixture.service.refuse(.malformed, peer: "192.0.2.7")
        }
        let outcomes = [
            "unauthenticated", "unknown-route", "described", "malformed-request",
            "too-many-requests",
        ]
        #expect(fixture.log.map(\.outcome) == outcomes)
        fixture.clock.advance(seconds: 60)
        fixture.service.logCountedRefusals()
        #expect(fixture.log.reduce(0) { $0 + $1.count } == 400)
        #expect(fixture.log.count == 10)
        let last = try #require(fixture.log.first { $0.count > 1 && $0.status == 429 })
        #expect(last.rendered().text.hasSuffix(",\"count\":379}\n"))
        for _ in 0..<5 {
            #expect(try await fixture.ask("GET", "/v1/events?x=1").status == 400)
        }
        #expect(fixture.log.count == 15)
    }

    @Test("O-08 denied device logins are counted in the log; each accepted one has its own line")
    func devices() async throws {
        let fixture = try await ServiceFixture()
        let (id, secret) = try await fixture.device()
        func login(_ secret: String) async throws -> String? {
            let nonce = String(repeating: "A", count: 22)
            return try await fixture.ask(
                "POST", "/v1/device/logins",
                #"{"credential":"\#(id)","secret":"\#(secret)","rotation_nonce":"\#(nonce)"}"#,
                as: nil
            ).result
        }
        let before = fixture.log.count
        // A different server made the secret.
        let other = try await ServiceFixture().device().secret
        for _ in 0..<20 { #expect(try await login(other) == "denied") }
        #expect(fixture.log.dropFirst(before).map(\.outcome) == ["denied"])
        for _ in 0..<3 { #expect(try await login(secret) == "accepted") }
        #expect(
            fixture.log.dropFirst(before + 1).map(\.outcome) == [
                "accepted", "accepted", "accepted",
            ])
    }

    @Test("V-19 malformed requests are rate-limited by address like those without an API key")
    func malformed() async throws {
        let rate = try #require(AddressRate(perSecond: 1, burst: 3))
        let fixture = try await ServiceFixture(addressRate: rate)
        for (number, reason) in HTTPRequestError.allCases.enumerated() {
            let status = fixture.service.refuse(reason, peer: "192.0.2.7").status
            #expect((status == 429) == (number >= 3))
        }
        #expect(try await fixture.ask("GET", "/v1/openapi.json", as: nil).status == 429)
        let other = fixture.service.refuse(.malformed, peer: "192.0.2.8")
        #expect(other.status == 400)
    }
}

extension ServiceFixture {
    fileprivate func device() async throws -> (id: String, secret: String) {
        let enrolment = try await ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#)
        let ticket = try #require(enrolment.text("ticket"))
        let device = try await ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil)
        return (try #require(device.text("credential")), try #require(device.text("secret")))
    }
}
