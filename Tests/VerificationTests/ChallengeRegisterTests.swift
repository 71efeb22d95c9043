import StoreContract
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Verification

/// The limits on the open challenges of strangers.
@Suite("Strangers' challenges")
struct ChallengeRegisterTests {
    private func address(_ text: String) throws -> NetworkAddress {
        try #require(NetworkAddress(text)).sender
    }

    /// Adds a challenge that expires after 300 seconds.
    ///
    /// - Returns: the digest of the dropped challenge, or `nil` if the new challenge was refused.
    private func add(
        _ number: Int, from text: String, to register: ChallengeRegister, at seconds: Int64 = 0
    ) throws -> [UInt8]? {
        let verdict = register.add(
            sampleBytes(number, count: 32), until: .at(seconds + 300), by: try address(text),
            at: .at(seconds))
        switch verdict {
        case .added(let dropped): return dropped?.digest ?? []
        case .refused(let seconds):
            #expect((1...300).contains(seconds))
            return nil
        }
    }

    @Test("V-19 a sender, and a /48 network, may have a limited number of open challenges")
    func perSender() throws {
        let register = ChallengeRegister(senderLimit: 2, siteLimit: 3, totalLimit: 100)
        for (number, from, isAdded) in [
            (1, "192.0.2.1", true), (2, "192.0.2.1", true), (3, "192.0.2.1", false),
            (4, "192.0.2.2", true), (5, "2001:db8::1", true), (6, "2001:db8::2", true),
            (7, "2001:db8::3", false), (8, "2001:db8:0:1::1", true),
            (9, "2001:db8:0:2::1", false), (10, "2001:db8:1::1", true),
        ] {
            #expect(try add(number, from: from, to: register) == (isAdded ? [] : nil), "\(number)")
        }
        #expect(register.count == 7)
        // A challenge that expires or is answered makes room.
        register.remove(sampleBytes(1, count: 32), by: try address("192.0.2.1"))
        register.remove(sampleBytes(1, count: 32), by: try address("192.0.2.1"))
        #expect(try add(11, from: "192.0.2.1", to: register, at: 100) == [])
        #expect(try add(12, from: "192.0.2.1", to: register, at: 299) == nil)
        #expect(try add(12, from: "192.0.2.1", to: register, at: 300) == [])
        #expect(try add(13, from: "192.0.2.1", to: register, at: 300) == nil)
    }

    @Test("V-19 if strangers have too many challenges, the oldest of the busiest site is replaced")
    func total() throws {
        let register = ChallengeRegister(senderLimit: 5, siteLimit: 5, totalLimit: 8)
        for number in 1...5 {
            #expect(try add(number, from: "2001:db8:0:\(number)::1", to: register) == [])
        }
        for number in 6...8 { #expect(try add(number, from: "192.0.2.1", to: register) == []) }
        // The counts five and three become four and three, plus one of the new sender.
        #expect(try add(9, from: "192.0.2.2", to: register) == sampleBytes(1, count: 32))
        #expect(try add(10, from: "2001:db8:0:9::1", to: register) == nil)
        #expect(try add(11, from: "192.0.2.1", to: register) == sampleBytes(2, count: 32))
        #expect(try add(12, from: "192.0.2.1", to: register) == nil)
        for number in 13...14 {
            #expect(try add(number, from: "192.0.2.2", to: register)?.count == 32)
        }
        #expect(register.count == 8)
        // The counts three, three and three would add up to nine.
        #expect(try add(15, from: "192.0.2.2", to: register) == nil)
        // Expired challenges of all senders make room.
        #expect(try add(16, from: "192.0.2.3", to: register, at: 300) == [])
        #expect(register.count == 1)
    }

    @Test(
        "V-19 a thousand hosts never displace a challenge of a sender with fewer open challenges")
    func crowd() throws {
        let register = ChallengeRegister(senderLimit: 64, siteLimit: 64, totalLimit: 4_000)
        #expect(try add(0, from: "192.0.2.1", to: register) == [])
        var dropped: Set<[UInt8]> = []
        for number in 1...20_000 {
            let host = number % 1_000
            let address = "10.0.\(host / 256).\(host % 256)"
            if let digest = try add(number, from: address, to: register) { dropped.insert(digest) }
            if number % 5_000 == 0 {
                #expect(try add(-number, from: "192.0.2.2", to: register) != nil)
            }
            #expect(register.count <= 4_000)
        }
        #expect(!dropped.contains(sampleBytes(0, count: 32)))
    }

    @Test("a commit that fails changes nothing in the register")
    func cancelled() throws {
        let register = ChallengeRegister(senderLimit: 2, siteLimit: 2, totalLimit: 2)
        for number in 1...2 { #expect(try add(number, from: "192.0.2.1", to: register) == []) }
        let (first, other) = (sampleBytes(1, count: 32), try address("192.0.2.2"))
        for number in 3...6 {
            let verdict = register.add(
                sampleBytes(number, count: 32), until: .at(300), by: other, at: .at(0))
            guard case .added(let dropped) = verdict else { throw BenchError.refused }
            #expect(dropped?.digest == first)
            register.cancel(
                sampleBytes(number, count: 32), by: other, droppedInstead: dropped)
            #expect(register.count == 2)
        }
        register.remove(first, by: try address("192.0.2.1"))
        #expect(register.count == 1)
    }

    @Test("a challenge whose commit failed does not count")
    func failing() async throws {
        let fixture = try VerifierFixture()
        let (clock, ring) = (fixture.clock, await fixture.keys.ring)
        let store = FaultyStore(
            MemoryStore(node: sampleBytes(1, count: 16), key: fixture.auditKey))
        let register = ChallengeRegister()
        var verifier = Verifier(
            store: store, policy: .standard, randomness: .system, clock: { clock.now },
            keys: { ring })
        verifier.challenges = register
        let keys = DeviceKeys(verifier, audiences: ["https://mill.example"], trusting: nil)
        await store.die(.beforeCommit)
        let origin = Origin(address: "192.0.2.1")
        await #expect(throws: VerifierError.self) {
            try await keys.challenge(for: .sample(1), origin: origin)
        }
        #expect(register.count == 0)
        _ = try await keys.challenge(for: .sample(1), origin: origin)
        #expect(register.count == 1)
    }

    @Test(
        "V-19 strangers' rows are limited, an application's rows are not, and an answer makes room")
    func rows() async throws {
        let fixture = try VerifierFixture()
        let clock = fixture.clock
        let ring = await fixture.keys.ring
        let register = ChallengeRegister(senderLimit: 3, siteLimit: 3, totalLimit: 6)
        var verifier = Verifier(
            store: fixture.store, policy: .standard, randomness: .system, clock: { clock.now },
            keys: { ring })
        verifier.challenges = register
        let keys = DeviceKeys(verifier, audiences: ["https://mill.example"], trusting: nil)
        func begin(_ address: String, client: ClientID? = nil) async throws -> Token {
            try await keys.challenge(
                for: .sample(1), origin: Origin(address: address, client: client)
            ).token
        }
        let first = try await begin("192.0.2.1")
        for _ in 0..<2 { _ = try await begin("192.0.2.1") }
        do {
            _ = try await begin("192.0.2.1")
            Issue.record("a fourth challenge")
        } catch VerifierError.tooManyChallenges(let seconds) {
            #expect(seconds == 300)
        }
        let outcome = try await keys.verify(
            DeviceKeySignature(
                credential: .sample(1), challenge: first, audience: "https://mill.example",
                purpose: .signIn, presence: .advisory, signature: [0]),
            origin: Origin(address: "192.0.2.1"))
        guard case .denied = outcome.result else { throw BenchError.refused }
        #expect(register.count == 2)
        _ = try await begin("192.0.2.1")
        for host in 2...200 { _ = try await begin("192.0.2.\(host)") }
        #expect(register.count == 6)
        let shop = ClientID(bytes: SampleKeys.bytes(1, 16))
        for _ in 0..<10 { _ = try await begin("192.0.2.1", client: shop) }
        let everything = Pruning(
            now: nil, challengesAt: UnixTime(milliseconds: .max), limit: .max)
        #expect(try await fixture.store.prune(everything).challenges == 16)
    }
}
