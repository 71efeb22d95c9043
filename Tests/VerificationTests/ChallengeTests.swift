import StoreContract
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

/// The challenges of ceremonies that sign in or confirm.
@Suite("Challenges")
struct ChallengeTests {
    private let contents: [Challenge.Content] = [
        .assertion(
            bytes: SampleKeys.bytes(1, 32), relyingParty: "mill.example", policy: .standard),
        .assertion(
            bytes: SampleKeys.bytes(1, 32), relyingParty: String(repeating: "a", count: 253),
            policy: PasskeyPolicy(
                userVerification: .preferred, backup: .deviceBound, attestation: .trusted,
                counter: .stepUp, discoverable: .preferred)),
        .signIn, .confirmation(textDigest: SampleKeys.bytes(2, 32)),
    ]

    @Test("a challenge is read from its row exactly as it was written")
    func roundTrip() throws {
        for content in contents {
            for client in [nil, ClientID(bytes: SampleKeys.bytes(3, 16))] {
                let challenge = Challenge(
                    digest: SampleKeys.bytes(4, 32), content: content,
                    subject: client == nil ? nil : .sample("alice"),
                    credential: client == nil ? nil : .sample(1), client: client,
                    createdAt: .at(0), expiresAt: .at(300))
                #expect(try Challenge(challenge.row) == challenge)
            }
        }
    }

    @Test("a challenge whose body does not match its row is refused")
    func malformed() throws {
        let challenge = Challenge(
            digest: SampleKeys.bytes(4, 32), content: contents[0], subject: nil, credential: nil,
            client: nil, createdAt: .at(0), expiresAt: .at(300))
        let row = challenge.row
        func isRefused(_ row: ChallengeRow) -> Bool {
            do throws(VerifierError) {
                _ = try Challenge(row)
                return false
            } catch { return true }
        }
        #expect(!isRefused(row))
        for count in 0..<row.body.count {
            #expect(isRefused(row.with(body: Array(row.body.prefix(count)))), "\(count)")
        }
        #expect(isRefused(row.with(body: row.body + [0])))
        // Another purpose, and another expiry than the body's.
        #expect(isRefused(row.with(body: row.body, purpose: .signIn)))
        #expect(isRefused(row.with(body: row.body, purpose: .confirm)))
        #expect(isRefused(row.with(body: row.body, expiresAt: .at(301))))
    }

    @Test("V-16 a challenge is found by its own token, purpose and client until it expires")
    func found() async throws {
        let fixture = try VerifierFixture()
        let verifier = fixture.verifier
        let context = await verifier.context(.unknown)
        let (shop, other) = (
            ClientID(bytes: SampleKeys.bytes(1, 16)), ClientID(bytes: SampleKeys.bytes(2, 16))
        )
        let (token, challenge) = verifier.newChallenge(
            .ceremony, contents[0], for: ChallengeAddressee(subject: fixture.alice, client: shop),
            context)
        #expect(try await fixture.store.commit([.insertChallenge(challenge.row)]) == .done)
        #expect(challenge.expiresAt == fixture.clock.now.adding(seconds: 300))

        func find(
            _ token: Token, _ purpose: ChallengeRow.Purpose = .assertion, by client: ClientID?
        ) async throws -> ChallengeFinding {
            try await verifier.challenge(
                token, for: purpose, by: client, answeredBy: .id(.sample(1)),
                verifier.context(.unknown)
            ).finding
        }
        guard case .open(challenge) = try await find(token, by: shop) else {
            throw BenchError.refused
        }
        for (purpose, client) in [
            (.assertion, other), (.assertion, nil), (.signIn, shop), (.confirm, shop),
        ] as [(ChallengeRow.Purpose, ClientID?)] {
            guard case .unknown = try await find(token, purpose, by: client) else {
                throw BenchError.refused
            }
        }
        // The same bytes as another kind of token, and other bytes.
        for wrong in [
            Token(.deviceChallenge, token.bytes),
            Token(.ceremony, Randomness.secret(count: 32)),
        ] {
            guard case .unknown = try await find(wrong, by: shop) else {
                throw BenchError.refused
            }
        }
        fixture.clock.now = challenge.expiresAt.adding(milliseconds: -1)
        guard case .open = try await find(token, by: shop) else { throw BenchError.refused }
        fixture.clock.now = challenge.expiresAt
        guard case .expired = try await find(token, by: shop) else { throw BenchError.refused }
        // The clock is set back, by more than the clocks of two nodes may differ.
        fixture.clock.now = challenge.createdAt.adding(milliseconds: -20_000)
        guard case .open = try await find(token, by: shop) else { throw BenchError.refused }
        fixture.clock.now = challenge.createdAt.adding(milliseconds: -20_001)
        guard case .expired = try await find(token, by: shop) else { throw BenchError.refused }
    }

    @Test("N-30 a token is the unchanged output of the random source")
    func source() async throws {
        let recorded = RecordedRandomness()
        let fixture = try VerifierFixture(randomness: recorded.source)
        let context = await fixture.verifier.context(.unknown)
        for kind in [Token.Kind.ceremony, .deviceChallenge] {
            let (token, challenge) = fixture.verifier.newChallenge(
                kind, .signIn, for: ChallengeAddressee(), context)
            #expect(token.bytes.count == 32)
            #expect(recorded.secrets.contains { $0 == token.bytes.known })
            // The row does not contain the token.
            #expect(challenge.digest != token.bytes.known)
        }
    }
}

extension ChallengeRow {
    fileprivate func with(
        body: [UInt8], purpose: Purpose? = nil, expiresAt: UnixTime? = nil
    ) -> ChallengeRow {
        ChallengeRow(
            digest: digest, purpose: purpose ?? self.purpose, subject: subject,
            credential: credential, body: body, createdAt: createdAt,
            expiresAt: expiresAt ?? self.expiresAt)
    }
}
