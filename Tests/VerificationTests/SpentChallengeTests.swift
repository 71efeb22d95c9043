import StoreContract
import TestSupport
import Testing

@testable import PasskeyVerification
@testable import Verification

/// The challenges that public keys have answered.
@Suite("Spent challenges")
struct SpentChallengeTests {
    private func challenge(_ number: Int, at time: UnixTime) -> Challenge {
        Challenge(
            digest: sampleBytes(number, count: 32), content: .signIn, subject: nil,
            credential: nil, client: nil, createdAt: time,
            expiresAt: time.adding(milliseconds: Challenge.lifetime))
    }

    private func read(_ spent: SpentChallenges) throws -> SpentChallenges {
        var writer = ByteWriter()
        spent.write(into: &writer)
        var reader = ByteReader(writer.bytes)
        defer { #expect(reader.isAtEnd) }
        return try SpentChallenges(fromEndOf: &reader)
    }

    @Test("only the recorded challenges count as spent, in any order")
    func recent() throws {
        var spent = SpentChallenges()
        for number in [3, 1, 2] {
            #expect(!spent.contain(challenge(number, at: .at(Int64(number))), at: .at(10)))
            spent.add(challenge(number, at: .at(Int64(number))), at: .at(10))
        }
        for number in 1...3 {
            #expect(spent.contain(challenge(number, at: .at(Int64(number))), at: .at(11)))
        }
        #expect(!spent.contain(challenge(4, at: .at(2)), at: .at(11)))
        #expect(try read(spent) == spent)
        // A row that was written before this list existed ends here.
        var empty = ByteReader([])
        #expect(try SpentChallenges(fromEndOf: &empty) == SpentChallenges())
    }

    @Test("the sixteen newest challenges are recorded separately, and older ones count as spent")
    func many() throws {
        var spent = SpentChallenges()
        for number in 1...18 { spent.add(challenge(number, at: .at(Int64(number))), at: .at(18)) }
        for number in 1...18 {
            #expect(spent.contain(challenge(number, at: .at(Int64(number))), at: .at(19)))
        }
        // One challenge was created at the same time as the last forgotten challenge, and one a
        // moment later.
        #expect(spent.contain(challenge(20, at: .at(2)), at: .at(19)))
        #expect(!spent.contain(challenge(21, at: .at(3)), at: .at(19)))
        #expect(try read(spent) == spent)
        var writer = ByteWriter()
        spent.write(into: &writer)
        #expect(writer.bytes.count <= 450, "a row stays small")
    }

    @Test("a challenge is forgotten only when all challenges of the same age have expired")
    func expired() {
        var spent = SpentChallenges()
        let old = challenge(1, at: .at(0))
        spent.add(old, at: .at(1))
        // A conditional challenge that was created a moment earlier is still open.
        let conditional = challenge(2, at: UnixTime(milliseconds: UnixTime.at(0).milliseconds - 1))
        spent.add(challenge(3, at: .at(600)), at: .at(619))
        #expect(!spent.contain(conditional, at: .at(619)))
        #expect(spent.contain(old, at: .at(619)))
        spent.add(challenge(4, at: .at(620)), at: .at(620))
        #expect(spent.contain(conditional, at: .at(620)))
        #expect(spent.contain(old, at: .at(620)))
        #expect(!spent.contain(challenge(5, at: .at(1)), at: .at(620)))
    }

    @Test("a clock that was ahead for a while does not lock anyone out afterwards")
    func clockAhead() {
        var spent = SpentChallenges()
        for number in 1...20 {
            spent.add(challenge(number, at: .at(1_000_000 + Int64(number))), at: .at(1_000_020))
        }
        let next = challenge(21, at: .at(30))
        #expect(!spent.contain(next, at: .at(31)))
        spent.add(next, at: .at(31))
        #expect(spent.contain(next, at: .at(32)))
        #expect(!spent.contain(challenge(22, at: .at(29)), at: .at(32)))
    }

    @Test("K-09 a challenge whose row is put back stays spent, and a different one stays open")
    func putBack() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        try await bench.register(passkey)
        let store = bench.fixture.store
        let ceremony = try await bench.passkeys.beginAuthentication(
            CeremonyRequest(for: bench.alice))
        let other = try await bench.passkeys.beginAuthentication(CeremonyRequest(for: bench.alice))
        let digest = bench.fixture.verifier.digest(
            ceremony.token, await bench.fixture.verifier.context(.unknown))
        let row = try #require(try await store.challenge(digest: digest))
        let response = try passkey.signed(ceremony.options)
        func finish() async throws -> AssertionOutcome {
            try await bench.passkeys.finishAuthentication(
                SentAssertion(response, for: ceremony.token))
        }
        #expect(try await finish().isAccepted)
        for seconds in [0, 1, 298] as [Int64] {
            bench.fixture.clock.advance(seconds: seconds)
            #expect(try await store.commit([.insertChallenge(row)]) == .done)
            #expect(try await finish().denial == .challenge)
        }
        #expect(
            try await bench.finish(other, passkey).isAccepted)
    }
}
