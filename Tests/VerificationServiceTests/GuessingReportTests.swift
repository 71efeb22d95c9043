import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

/// The service's reports of guessing, to the operator and to the application.
struct GuessingReportTests {
    @Test("codes that are denied for many subjects are reported once in ten minutes")
    func spraying() {
        let start = ContinuousClock.now
        let denied = DeniedSubjects(start: start)
        func enter(_ number: Int, at seconds: Int, isAccepted: Bool = false) -> Bool {
            denied.enter(
                "subject \(number)", isAccepted: isAccepted, at: start + .seconds(seconds))
        }
        // Any number of denials of one subject count as one subject.
        for _ in 0..<200 { #expect(!enter(0, at: 1)) }
        for number in 1..<49 { #expect(!enter(number, at: 2)) }
        #expect(enter(49, at: 3))
        #expect(!enter(50, at: 4))
        #expect(denied.count(at: start + .seconds(599)) == 51)
        #expect(denied.count(at: start + .seconds(600)) == 0)
        // A busy service also denies a few codes.
        for number in 0..<60 { #expect(!enter(number, at: 700, isAccepted: true)) }
        for number in 0..<60 { #expect(!enter(number, at: 701)) }
        #expect(enter(60, at: 702))
        // The accepted codes of one account cannot hide the denials of other accounts.
        for _ in 0..<100 { #expect(!enter(0, at: 1_900, isAccepted: true)) }
        for number in 1..<50 { #expect(!enter(number, at: 1_901)) }
        #expect(enter(50, at: 1_902))
        for number in 0..<20_000 { _ = enter(number, at: 2_500) }
        #expect(denied.count(at: start + .seconds(2_500)) == DeniedSubjects.capacity)
    }

    @Test("slow guessing and spraying are reported, and unknown subjects count like known ones")
    func metrics() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        for _ in 0..<10 {
            _ = try await fixture.verify("alice", fixture.wrongCode(of: alice))
            _ = try await fixture.ask("POST", "/v1/credentials/\(alice.id)/unlock")
        }
        for number in 0..<49 { _ = try await fixture.verify("user\(number)", "123456") }
        let reply = await fixture.service.respondToOperator(
            HTTPRequest(
                method: "GET", target: "/metrics", body: SecretBytes(text: ""), peer: "::1"))
        let lines = reply.body.text.split(separator: "\n")
        for line in [
            #"watchword_events_total{kind="guessing"} 1"#,
            #"watchword_events_total{kind="locked"} 1"#, "watchword_denied_subjects 50",
            "watchword_spraying_total 1",
        ] { #expect(lines.contains(Substring(line)), "\(line)") }
        #expect(fixture.sprayingNotices == 1)
    }

    @Test("H-13 a device gets its token once, and its codes are checked during a wait")
    func device() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        func verify(
            _ code: String, _ more: String, headers: [String: String] = [:]
        ) async throws -> Reply {
            try await fixture.ask(
                "POST", "/v1/verifications",
                #"{"subject":"alice","code":"\#(code)"\#(more)}"#, headers: headers)
        }
        let key = ["Idempotency-Key": "one"]
        let code = try fixture.code(of: alice)
        let first = try await verify(code, #","remember":true"#, headers: key)
        let device = try #require(first.text("device"))
        #expect(device.hasPrefix("wwd_"))
        let again = try await verify(code, #","remember":true"#, headers: key)
        #expect(again.text("device") == device)
        fixture.clock.advance(seconds: 30)
        for _ in 0..<Policy.standard.firstFailureWithWait {
            _ = try await fixture.verify("alice", fixture.wrongCode(of: alice))
        }
        let next = try fixture.code(of: alice)
        #expect(try await fixture.verify("alice", next).text("reason") == "throttled")
        let known = try await verify(next, #","remember":true,"device":"\#(device)""#)
        #expect(known.result == "accepted" && known.text("device") == nil)
        #expect(try await verify(next, #","device":"wwd_x""#).problem == "invalid-field")
        _ = try await fixture.ask("DELETE", "/v1/credentials/\(alice.id)")
        let ended = try await verify(code, #","remember":true"#, headers: key)
        #expect(ended.problem == "answer-ended")
    }
}
