import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

struct FailureTests {
    @Test(
        "V-31 a store failure causes 503 with Retry-After and no acceptance; the code stays valid",
        arguments: StoreFailure.FailureKind.allCases, [FailingStore.Fault.reads, .commits])
    func storeFailure(_ kind: StoreFailure.FailureKind, _ fault: FailingStore.Fault) async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        fixture.store.fail(fault, with: kind)
        let reply = try await fixture.verify("alice", code)
        #expect(reply.status == 503 && reply.problem == "unavailable")
        #expect(reply.response.value(of: "Retry-After") != nil)
        #expect(fixture.log.last?.cause == "store-\(kind.rawValue) TEST")
        #expect(!reply.response.body.text.contains("TEST"))
        fixture.store.fail(nil)
        #expect(try await fixture.verify("alice", code).result == "accepted")
    }

    @Test("V-31 if the result of a commit is lost, the code is spent but not accepted")
    func lostAnswer() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        fixture.store.fail(.answers)
        let headers = ["Idempotency-Key": "k"]
        #expect(try await fixture.verify("alice", code, headers: headers).status == 503)
        fixture.store.fail(nil)
        #expect(try await fixture.verify("alice", code).result == "denied")
        // The same idempotency key returns the lost response.
        #expect(try await fixture.verify("alice", code, headers: headers).result == "accepted")
    }

    @Test(
        "V-31 routes that change credentials fail closed",
        arguments: [FailingStore.Fault.reads, .commits])
    func everyRoute(_ fault: FailingStore.Fault) async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        let ticket = try #require(
            try await fixture.ask("POST", "/v1/subjects/a/credentials", #"{"type":"secret"}"#)
                .text("ticket"))
        fixture.store.fail(fault)
        for (method, target, body) in [
            ("POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#),
            ("POST", "/v1/subjects/alice/credentials", #"{"type":"recovery"}"#),
            ("POST", "/v1/credentials/\(alice.id)/resync", #"{"codes":["\#(code)","\#(code)"]}"#),
            ("PATCH", "/v1/credentials/\(alice.id)", #"{"name":"x"}"#),
            ("DELETE", "/v1/credentials/\(alice.id)", nil),
            ("POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#),
        ] as [(String, String, String?)] {
            let reply = try await fixture.ask(method, target, body)
            #expect(reply.status == 503, "\(method) \(target)")
        }
        fixture.store.fail(nil)
        let redeemed = try await fixture.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil)
        #expect(redeemed.status == 201)
    }

    @Test("V-31 a service with another key ring rejects the clients' API keys")
    func missingKey() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let clock = fixture.clock
        let other = try KeyRing.make()
        let service = Service(
            verifier: Verifier(store: fixture.store, keys: other, clock: { clock.now }),
            settings: ServiceSettings(clock: ClockRequirement(profile: .wide)),
            dependencies: ServiceDependencies(
                now: { clock.now }, clockState: { .unknown }, log: { _ in }))
        let key = try #require(fixture.keys["all"]).text
        let response = await service.answer(
            HTTPRequest(
                method: "POST", target: "/v1/verifications",
                headers: [HTTPField("Content-Type", "application/json")],
                authorization: SecretBytes(text: "Bearer \(key)"),
                body: SecretBytes(
                    text: #"{"subject":"alice","code":"\#(try fixture.code(of: alice))"}"#),
                peer: ""))
        // The digest of the API key is also keyed.
        #expect(response.status == 401)
    }

    @Test(
        "T-01 the server is not ready with a bad clock or a failing store, but it is alive"
    )
    func readiness() async throws {
        let fixture = try await ServiceFixture()
        func ask(_ target: String) async -> (Int, String, String?) {
            let response = await fixture.service.answerOperations(
                HTTPRequest(
                    method: "GET", target: target, body: SecretBytes(text: ""), peer: "127.0.0.1"))
            return (response.status, response.body.text, response.value(of: "Retry-After"))
        }
        #expect(await ask("/readyz") == (200, "ready\n", nil))
        fixture.setClockState(.unsynchronized)
        #expect(await ask("/readyz") == (503, "clock-unsynchronized\n", "5"))
        fixture.setClockState(.synchronized(maximumError: 1))
        fixture.clock.advance(seconds: -86_400 * 60)
        #expect(await ask("/readyz") == (503, "clock-before-build\n", "5"))
        fixture.clock.advance(seconds: 86_400 * 60)
        fixture.store.fail(.reads, with: .busy)
        #expect(await ask("/readyz") == (503, "store-busy TEST\n", "5"))
        #expect(await ask("/livez") == (200, "alive\n", nil))
        fixture.store.fail(nil)
        #expect(await ask("/readyz?verbose").0 == 200)
        #expect(await ask("/v1/events").0 == 404)
    }

    @Test("each change of readiness is reported once, however often readiness is queried")
    func readinessChanges() async throws {
        let fixture = try await ServiceFixture()
        func ask(_ count: Int) async {
            for _ in 0..<count {
                _ = await fixture.service.answerOperations(
                    HTTPRequest(
                        method: "GET", target: "/readyz", body: SecretBytes(text: ""),
                        peer: "127.0.0.1"))
            }
        }
        await ask(2)
        #expect(fixture.readinessChanges == [])
        fixture.setClockState(.unknown)
        await ask(3)
        #expect(fixture.readinessChanges == ["clock-unknown"])
        fixture.store.fail(.reads, with: .busy)
        fixture.setClockState(.synchronized(maximumError: 1))
        await ask(3)
        fixture.store.fail(nil)
        await ask(2)
        #expect(fixture.readinessChanges == ["clock-unknown", "store-busy TEST", nil])
    }
}
