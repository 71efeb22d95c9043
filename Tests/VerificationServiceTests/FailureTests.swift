import Cryptography
import HTTPMessage
import JSONText
import ServiceTranscripts
import TestSupport
import Testing
import Verification

@testable import VerificationService

struct FailureTests {
    @Test(
        "V-31 a store failure gives 503 with Retry-After, never an acceptance, and the code stays valid",
        arguments: StoreFailure.Trouble.allCases, [FailingStore.Fault.reads, .commits])
    func storeFailure(_ trouble: StoreFailure.Trouble, _ fault: FailingStore.Fault) async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let code = try world.code(of: alice)
        world.store.fail(fault, with: trouble)
        let reply = try await world.verify("alice", code)
        #expect(reply.status == 503 && reply.problem == "unavailable")
        #expect(reply.response.value(of: "Retry-After") != nil)
        #expect(world.log.last?.cause == "store-\(trouble.rawValue) TEST")
        #expect(!reply.response.body.text.contains("TEST"))
        world.store.fail(nil)
        #expect(try await world.verify("alice", code).result == "accepted")
    }

    @Test("V-31 a commit whose result is lost accepts nothing, but spends the code")
    func lostAnswer() async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let code = try world.code(of: alice)
        world.store.fail(.answers)
        let headers = ["Idempotency-Key": "k"]
        #expect(try await world.verify("alice", code, headers: headers).status == 503)
        world.store.fail(nil)
        #expect(try await world.verify("alice", code).result == "denied")
        // The same idempotency key returns the lost response.
        #expect(try await world.verify("alice", code, headers: headers).result == "accepted")
    }

    @Test(
        "V-31 every route that decides fails closed",
        arguments: [FailingStore.Fault.reads, .commits])
    func everyRoute(_ fault: FailingStore.Fault) async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let code = try world.code(of: alice)
        let ticket = try #require(
            try await world.ask("POST", "/v1/subjects/a/credentials", #"{"type":"secret"}"#)
                .text("ticket"))
        world.store.fail(fault)
        for (method, target, body) in [
            ("POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#),
            ("POST", "/v1/subjects/alice/credentials", #"{"type":"recovery"}"#),
            ("POST", "/v1/credentials/\(alice.id)/resync", #"{"codes":["\#(code)","\#(code)"]}"#),
            ("PATCH", "/v1/credentials/\(alice.id)", #"{"name":"x"}"#),
            ("DELETE", "/v1/credentials/\(alice.id)", nil),
            ("POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#),
        ] as [(String, String, String?)] {
            let reply = try await world.ask(method, target, body)
            #expect(reply.status == 503, "\(method) \(target)")
        }
        world.store.fail(nil)
        let redeemed = try await world.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil)
        #expect(redeemed.status == 201)
    }

    @Test("V-31 nothing is accepted if the key version of a row is missing")
    func missingKey() async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let clock = world.clock
        let other = try KeyRing.make()
        let service = Service(
            verifier: Verifier(store: world.store, keys: other, clock: { clock.now }),
            settings: ServiceSettings(clock: ClockRequirement(profile: .wide)),
            surroundings: ServiceSurroundings(
                now: { clock.now }, clockState: { .unknown }, log: { _ in }))
        let key = try #require(world.keys["all"]).text
        let response = await service.answer(
            HTTPRequest(
                method: "POST", target: "/v1/verifications",
                headers: [HTTPField("Content-Type", "application/json")],
                authorization: SecretBytes(text: "Bearer \(key)"),
                body: SecretBytes(
                    text: #"{"subject":"alice","code":"\#(try world.code(of: alice))"}"#),
                peer: ""))
        // The digest of the API key is keyed, too.
        #expect(response.status == 401)
    }

    @Test("no decision is made if random bytes are unavailable")
    func noRandomness() async throws {
        let world = try await ServiceWorld()
        let clock = world.clock
        let broken = RandomSource(
            bytes: { _ throws(CryptographyFailure) in
                try Self.fail()
                return []
            },
            secret: { _ throws(CryptographyFailure) in
                try Self.fail()
                return SecretBytes(text: "")
            })
        let service = Service(
            verifier: world.verifier,
            settings: ServiceSettings(clock: ClockRequirement(profile: .wide)),
            surroundings: ServiceSurroundings(
                now: { clock.now }, clockState: { .unknown }, randomness: broken, log: { _ in }))
        let response = await service.answer(
            HTTPRequest(
                method: "GET", target: "/v1/openapi.json", body: SecretBytes(text: ""), peer: ""))
        #expect(response.status == 500)
    }

    /// Causes a genuine OpenSSL error: HKDF produces at most 255 blocks.
    private static func fail() throws(CryptographyFailure) {
        let none: [UInt8] = []
        _ = try hkdfSHA256(
            secret: SecretBytes(text: "x"), salt: none.span, info: none.span, count: 10_000)
    }

    @Test(
        "T-01 the server is not ready with a bad clock or a failing store, but it is alive"
    )
    func readiness() async throws {
        let world = try await ServiceWorld()
        func ask(_ target: String) async -> (Int, String, String?) {
            let response = await world.service.answerOperations(
                HTTPRequest(
                    method: "GET", target: target, body: SecretBytes(text: ""), peer: "127.0.0.1"))
            return (response.status, response.body.text, response.value(of: "Retry-After"))
        }
        #expect(await ask("/readyz") == (200, "ready\n", nil))
        world.setClockState(.unsynchronized)
        #expect(await ask("/readyz") == (503, "clock-unsynchronized\n", "5"))
        world.setClockState(.synchronized(maximalError: 1))
        world.clock.advance(seconds: -86_400 * 60)
        #expect(await ask("/readyz") == (503, "clock-before-build\n", "5"))
        world.clock.advance(seconds: 86_400 * 60)
        world.store.fail(.reads, with: .busy)
        #expect(await ask("/readyz") == (503, "store-busy TEST\n", "5"))
        #expect(await ask("/livez") == (200, "alive\n", nil))
        world.store.fail(nil)
        #expect(await ask("/readyz?verbose").0 == 200)
        #expect(await ask("/v1/events").0 == 404)
    }

    @Test("each change of readiness is reported once, however often it is asked for")
    func readinessChanges() async throws {
        let world = try await ServiceWorld()
        func ask(_ count: Int) async {
            for _ in 0..<count {
                _ = await world.service.answerOperations(
                    HTTPRequest(
                        method: "GET", target: "/readyz", body: SecretBytes(text: ""),
                        peer: "127.0.0.1"))
            }
        }
        await ask(2)
        #expect(world.readinessChanges == [])
        world.setClockState(.unknown)
        await ask(3)
        #expect(world.readinessChanges == ["clock-unknown"])
        world.store.fail(.reads, with: .busy)
        world.setClockState(.synchronized(maximalError: 1))
        await ask(3)
        world.store.fail(nil)
        await ask(2)
        #expect(world.readinessChanges == ["clock-unknown", "store-busy TEST", nil])
    }
}
