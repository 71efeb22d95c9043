@testable import PasskeyVerification
import StoreContract
import Synchronization
import TestSupport
import Testing
@testable import Verification
import WatchwordCryptography

/// The challenges of ceremonies for signing in and for confirming text.
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

    @Test("a challenge decodes from its row unchanged")
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
        // The purpose, or the expiry, differs from that of the body.
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
        // The same bytes as a different kind of token, and different bytes.
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
        // The clock is set back by more than the permitted difference between two nodes.
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

/// The random bytes that passkeys and device keys sign.
@Suite("Randomness of challenges")
struct RandomChallengeTests {
    /// A source that records the bytes that it returns.
    private final class Recording: Sendable {
        private let returned = Mutex<Set<[UInt8]>>([])

        var source: RandomSource {
            RandomSource(
                bytes: { [self] count in
                    let bytes = RandomSource.system.bytes(count)
                    returned.withLock { _ = $0.insert(bytes) }
                    return bytes
                },
                secret: { [self] count in
                    let secret = RandomSource.system.secret(count)
                    let bytes = secret.withBytes { [UInt8](copying: $0) }
                    returned.withLock { _ = $0.insert(bytes) }
                    return secret
                })
        }

        func contains(_ bytes: [UInt8]) -> Bool { returned.withLock { $0.contains(bytes) } }
    }

    @Test("N-24 each challenge is 32 new bytes from the source of randomness")
    func random() async throws {
        let recording = Recording()
        let fixture = try VerifierFixture(randomness: recording.source)
        let passkeys = Passkeys(
            fixture.verifier,
            for: try RelyingParty(
                ids: ["mill.example"], name: "Mill", origins: ["https://mill.example"]))
        let keys = DeviceKeys(fixture.verifier, audiences: ["https://login.example"])
        let key = try await keys.enrol(DeviceKeyEnrolment(for: fixture.alice)).granted()
        var challenges: [[UInt8]] = []
        for number in 0..<100 {
            let subject = try #require(Subject("subject \(number)"))
            let grant = try await passkeys.beginRegistration(
                PasskeyEnrolment(for: subject)
            ).granted()
            let ceremony = try await passkeys.beginAuthentication(CeremonyRequest(for: subject))
            let signIn = try await keys.challenge(for: key.credential)
            let confirmation = try await keys.challenge(for: key.credential, confirming: "Pay")
            challenges += [grant.options.challenge, ceremony.options.challenge]
            challenges += [signIn, confirmation].map { challenge in
                challenge.token.bytes.withBytes { [UInt8](copying: $0) }
            }
        }
        #expect(challenges.allSatisfy { $0.count == 32 && recording.contains($0) })
        #expect(Set(challenges).count == challenges.count)
    }

    @Test("N-24 a million challenges from the source of randomness differ in their first 64 bits")
    func unique() {
        var starts: [UInt64] = []
        starts.reserveCapacity(1_000_000)
        for _ in 0..<1_000_000 {
            let bytes = RandomSource.system.bytes(32)
            starts.append(bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        }
        #expect(Set(starts).count == starts.count)
    }

    @Test("N-24 a challenge of a passkey or a device key expires after five minutes")
    func expiry() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        try await bench.register(passkey)
        let keys = DeviceKeys(bench.fixture.verifier, audiences: ["https://login.example"])
        let grant = try await keys.enrol(DeviceKeyEnrolment(for: bench.alice)).granted()
        let device = try TestDeviceKey()
        _ = try await keys.register(
            SentDeviceKey(
                point: device.key.point, signature: device.enrolment(grant.ticket),
                presence: device.presence, custody: .vault), with: grant.ticket)
        for (life, reason) in [(299_999, nil), (300_000, .expired)] as [(Int64, DenialReason?)] {
            let ceremony = try await bench.passkeys.beginAuthentication(
                CeremonyRequest(for: bench.alice))
            let challenge = try await keys.challenge(for: grant.credential)
            bench.fixture.clock.now = bench.fixture.clock.now.adding(milliseconds: life)
            #expect(
                try await bench.finish(ceremony, passkey).denial == reason)
            #expect(
                try await keys.verify(device.answer(challenge, by: grant.credential)).denial
                    == reason)
        }
    }
}
