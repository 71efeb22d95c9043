import ServiceTranscripts
import StoreContract
import TestSupport
import Testing
import WatchwordCoding

/// Requests with different idempotency keys that lose a race; each learns what was committed.
struct LostRaceTests {
    /// A fixture whose store lets all racing requests read before one of them writes.
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
        "V-18 one of four concurrent redemptions of a ticket gets a secret, and it is the stored one"
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
