import ServiceTranscripts
import Testing
import WatchwordCoding

@testable import VerificationService

/// Floods on the routes of device keys, from the address of a device that also uses them.
struct DeviceKeyLimitTests {
    /// A registered device key.
    private struct Device {
        let fixture: ServiceFixture
        let key: SampleDeviceKey
        let id: String

        init(_ name: String, _ fixture: ServiceFixture) async throws {
            self.fixture = fixture
            key = try SampleDeviceKey(name)
            let ticket = try await fixture.enrol(#"{"type":"key"}"#).member("ticket")
            let registered = try await fixture.ask(
                "POST", "/v1/device/keys",
                #"{"ticket":"\#(ticket)","public_key":"\#(key.pointText)","#
                    + #""signature":"\#(try key.enrolment(ticket))","presence":"cryptographic"}"#,
                as: nil)
            id = try registered.member("credential")
        }

        func begin() async throws -> Reply {
            try await fixture.ask(
                "POST", "/v1/device/challenges", #"{"credential":"\#(id)"}"#, as: nil)
        }

        /// Sends a signature of this challenge.
        func present(_ begun: Reply, by other: SampleDeviceKey? = nil) async throws -> Reply {
            let challenge = try begun.member("challenge")
            let signature = try (other ?? key).signature(
                of: challenge, expiry: begun.json?["expires_ms"]?.wholeNumber ?? 0, by: id)
            return try await present(challenge, signature)
        }

        func present(_ challenge: String, _ signature: String) async throws -> Reply {
            try await fixture.ask(
                "POST", "/v1/device/signatures",
                #"{"credential":"\#(id)","audience":"\#(SampleDeviceKey.audience)","#
                    + #""purpose":"sign-in","presence":"cryptographic","#
                    + #""challenge":"\#(challenge)","signature":"\#(signature)"}"#, as: nil)
        }
    }

    /// Sends one more unknown challenge than one address may send in a minute.
    private func flood(_ device: Device) async throws {
        let junk = "wwx_" + String(repeating: "A", count: 43)
        var statuses: [Int: Int] = [:]
        for _ in 0..<61 {
            statuses[try await device.present(junk, "AAAA").status, default: 0] += 1
        }
        #expect(statuses == [200: 60, 429: 1])
    }

    @Test(
        "K-10 a denial spends its challenge even if the device has to wait for the next response")
    func spentByRefusal() async throws {
        let fixture = try await ServiceFixture()
        let device = try await Device("alice", fixture)
        let begun = try await device.begin()
        try await flood(device)
        #expect(try await device.present(begun, by: try SampleDeviceKey("bob")).status == 429)
        // The correct key is not locked out, but the challenge of the wrong signature is spent.
        #expect(try await device.present(try await device.begin()).result == "accepted")
        #expect(try await device.present(begun).status == 429)
        fixture.clock.advance(seconds: 60)
        #expect(try await device.present(begun).result == "denied")
    }

    @Test("the holder of a revoked key is told to wipe it, regardless of denials for the address")
    func wipeInFlood() async throws {
        let fixture = try await ServiceFixture()
        let device = try await Device("alice", fixture)
        let revoked = try await fixture.ask("DELETE", "/v1/credentials/\(device.id)")
        #expect(revoked.status == 204)
        try await flood(device)
        let wiped = try await device.present(try await device.begin())
        #expect(wiped.status == 200 && wiped.text("wipe_reason") == "revoked")
    }

    @Test(
        "V-19 the challenge route, which writes to the database, has a tenth of the address rate"
    )
    func challengeRate() async throws {
        let rate = try #require(AddressRate(perSecond: 20, burst: 40))
        let fixture = try await ServiceFixture(addressRate: rate)
        let device = try await Device("alice", fixture)
        for status in [201, 201, 201, 201, 429] {
            #expect(try await device.begin().status == status)
        }
        // The rest of the burst remains for other routes.
        let other = try await fixture.ask("GET", "/v1/openapi.json", as: nil)
        #expect(other.status == 200)
        fixture.clock.advance(milliseconds: 500)
        #expect(try await device.begin().status == 201)
        #expect(try await device.begin().status == 429)
    }

    @Test("V-19 neither pages nor invalid requests use up the rate for challenges")
    func separateRates() async throws {
        let rate = try #require(AddressRate(perSecond: 20, burst: 40))
        let fixture = try await ServiceFixture(addressRate: rate)
        let device = try await Device("alice", fixture)
        for status in [201, 201, 201, 201, 429] {
            #expect(try await fixture.driver.beginOnPage().status == status)
        }
        for _ in 0..<5 {
            let invalid = try await fixture.ask(
                "POST", "/v1/device/challenges", #"{"credential":1}"#, as: nil)
            #expect(invalid.status == 400)
        }
        #expect(try await device.begin().status == 201)
    }

    @Test("V-19 the holder of a revoked key causes one denied and one wiped event per minute")
    func wipeEvents() async throws {
        let fixture = try await ServiceFixture()
        let device = try await Device("alice", fixture)
        _ = try await fixture.ask("DELETE", "/v1/credentials/\(device.id)")
        for _ in 0..<5 {
            let wiped = try await device.present(try await device.begin())
            #expect(wiped.status == 200 && wiped.text("wipe_reason") == "revoked")
        }
        let events = try await fixture.ask("GET", "/v1/events?limit=100")
        let kinds = events.json?["events"]?.elements?.compactMap { $0["kind"]?.string } ?? []
        #expect(kinds.filter { $0 == "wiped" }.count == 1)
        #expect(kinds.filter { $0 == "denied" }.count == 1)
    }
}
