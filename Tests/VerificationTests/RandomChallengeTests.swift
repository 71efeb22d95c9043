import Synchronization
import TestSupport
import Testing
import WatchwordCryptography

@testable import PasskeyVerification
@testable import Verification

/// The random bytes that passkeys and device keys sign.
@Suite("Randomness of challenges")
struct RandomChallengeTests {
    /// A source that records what it returns.
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
