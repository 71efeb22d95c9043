import JSONText
import ServiceTranscripts
import StoreContract
import TestSupport
import Testing

/// Requests with different idempotency keys that lose a race; each learns what was committed.
struct LostRaceTests {
    /// A fixture whose store lets all racing requests read before one of them writes.
    private func world() async throws -> (world: ServiceWorld, store: GatheringStore) {
        var gathering: GatheringStore?
        let world = try await ServiceWorld(wrapping: { memory, _ in
            let store = GatheringStore(memory)
            gathering = store
            return store
        })
        return (world, try #require(gathering))
    }

    private func ticket(_ world: ServiceWorld) async throws -> String {
        let enrolment = try await world.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#)
        return try #require(enrolment.text("ticket"))
    }

    private func redeem(
        _ ticket: String, key: String, _ world: ServiceWorld
    ) async throws -> Reply {
        try await world.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil,
            headers: ["Idempotency-Key": key])
    }

    private func signIn(_ device: Reply, _ world: ServiceWorld) async throws -> Reply {
        let id = try #require(device.text("credential"))
        let secret = try #require(device.text("secret"))
        let nonce = String(repeating: "A", count: 22)
        return try await world.ask(
            "POST", "/v1/device/logins",
            #"{"credential":"\#(id)","secret":"\#(secret)","rotation_nonce":"\#(nonce)"}"#,
            as: nil, headers: ["Idempotency-Key": "login"])
    }

    @Test(
        "V-18 one of four concurrent redemptions of a ticket gets a secret, and it is the stored one"
    )
    func oneTicket() async throws {
        let (world, store) = try await world()
        let ticket = try await ticket(world)
        await store.gather(4, reading: .credential)
        let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
            for index in 0..<4 {
                group.addTask { try await redeem(ticket, key: "key-\(index)", world) }
            }
            return try await group.reduce(into: [Reply]()) { $0.append($1) }
        }
        let redeemed = replies.filter { $0.status == 201 }
        #expect(redeemed.count == 1)
        #expect(replies.filter { $0.status == 403 && $0.text("secret") == nil }.count == 3)
        #expect(try await signIn(try #require(redeemed.first), world).result == "accepted")
    }

    @Test("V-18 a login that races with a revocation is accepted only if the acceptance was stored")
    func revocation() async throws {
        for _ in 0..<10 {
            let (world, store) = try await world()
            let device = try await redeem(try await ticket(world), key: "enrolment", world)
            let id = try #require(device.text("credential"))
            await store.gather(2, reading: .credential)
            async let revocation = world.ask("DELETE", "/v1/credentials/\(id)")
            let login = try await signIn(device, world)
            #expect(try await revocation.status == 204)
            let events = try await world.ask("GET", "/v1/events?limit=1000").json?["events"]
            let accepted = try #require(events?.elements).filter {
                $0["kind"]?.string == "accepted"
            }
            #expect(accepted.count == (login.result == "accepted" ? 1 : 0))
            #expect(login.result == "accepted" || login.text("wipe_reason") == "revoked")
        }
    }
}
