import ServiceTranscripts
import StoreContract
import TestSupport
import Testing
import Verification
@testable import VerificationService
import WatchwordCoding
import WatchwordCryptography

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

    @Test("V-31 a service with a different key ring rejects the clients' API keys")
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
        let response = await service.respond(
            to: HTTPRequest(
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
        "T-01 the server is not ready with a bad clock or a failing store, but stays alive"
    )
    func readiness() async throws {
        let fixture = try await ServiceFixture()
        func ask(_ target: String) async -> (Int, String, String?) {
            let response = await fixture.service.respondToOperator(
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

    @Test("each change in readiness is reported once, however often readiness is queried")
    func readinessChanges() async throws {
        let fixture = try await ServiceFixture()
        func ask(_ count: Int) async {
            for _ in 0..<count {
                _ = await fixture.service.respondToOperator(
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

/// Requests with different idempotency keys that lose a race; each request learns the committed
/// result.
struct LostRaceTests {
    /// A fixture whose store lets all racing requests read before any request writes.
    private func fixture() async throws -> (fixture: ServiceFixture, store: BarrierStore) {
        var gathering: BarrierStore?
        let fixture = try await ServiceFixture(wrapping: { memory, _ in
            let store = BarrierStore(memory)
            gathering = store
            return store
        })
        return (fixture, try #require(gathering))
    }

    private func ticket(_ fixture: ServiceFixture) async throws -> String {
        let enrolment = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#)
        return try #require(enrolment.text("ticket"))
    }

    private func redeem(
        _ ticket: String, key: String, _ fixture: ServiceFixture
    ) async throws -> Reply {
        try await fixture.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil,
            headers: ["Idempotency-Key": key])
    }

    private func signIn(_ device: Reply, _ fixture: ServiceFixture) async throws -> Reply {
        let id = try #require(device.text("credential"))
        let secret = try #require(device.text("secret"))
        let nonce = String(repeating: "A", count: 22)
        return try await fixture.ask(
            "POST", "/v1/device/logins",
            #"{"credential":"\#(id)","secret":"\#(secret)","rotation_nonce":"\#(nonce)"}"#,
            as: nil, headers: ["Idempotency-Key": "login"])
    }

    @Test(
        "V-18 one of four concurrent redemptions of a ticket gets a secret, which is the stored secret"
    )
    func oneTicket() async throws {
        let (fixture, store) = try await fixture()
        let ticket = try await ticket(fixture)
        await store.gather(4, reading: .credential)
        let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
            for index in 0..<4 {
                group.addTask { try await redeem(ticket, key: "key-\(index)", fixture) }
            }
            return try await group.reduce(into: [Reply]()) { $0.append($1) }
        }
        let redeemed = replies.filter { $0.status == 201 }
        #expect(redeemed.count == 1)
        #expect(replies.filter { $0.status == 403 && $0.text("secret") == nil }.count == 3)
        #expect(try await signIn(try #require(redeemed.first), fixture).result == "accepted")
    }

    @Test("V-18 a login that races with a revocation is accepted only if the acceptance was stored")
    func revocation() async throws {
        for _ in 0..<10 {
            let (fixture, store) = try await fixture()
            let device = try await redeem(try await ticket(fixture), key: "enrolment", fixture)
            let id = try #require(device.text("credential"))
            await store.gather(2, reading: .credential)
            async let revocation = fixture.ask("DELETE", "/v1/credentials/\(id)")
            let login = try await signIn(device, fixture)
            #expect(try await revocation.status == 204)
            let events = try await fixture.ask("GET", "/v1/events?limit=1000").json?["events"]
            let accepted = try #require(events?.elements).filter {
                $0["kind"]?.string == "accepted"
            }
            #expect(accepted.count == (login.result == "accepted" ? 1 : 0))
            #expect(login.result == "accepted" || login.text("wipe_reason") == "revoked")
        }
    }
}
