import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Keys at rest")
struct KeyRotationTests {
    @Test("V-28 a stored row does not contain the seed in any encoding")
    func noSeed() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let row = try #require(await fixture.store.credential(authenticator.credential))
        let seed = authenticator.entry.key
        let stored = row.body + (row.fingerprint ?? [])
        for spelling in [
            seed.known, Array(seed.hex.utf8), Array(seed.hex.uppercased().utf8),
            Base64.encode(seed).known, Base64URL.encode(seed).known,
        ] {
            #expect(!stored.contains(spelling[...]))
        }
    }

    @Test("H-16 V-23 a seed opens only for its own row, subject, kind and key")
    func swapped() async throws {
        let ring = try KeyRing.make().adding(makingCurrent: true)
        let (old, new) = (ring.versions[0], ring.versions[1])
        let seed = SecretBytes(text: "sixteen bytes...")
        let alice = try #require(Subject("alice"))
        let id = try #require(CredentialID(bytes: [UInt8](repeating: 1, count: 16)))
        let place = SealingContext(id: id, subject: alice, kind: .totp)
        let sealed = SealedSeed(
            sealing: seed, SealedSeed.Parameters(algorithm: .sha1, digits: 6, period: 30),
            for: place, under: old)
        #expect(try sealed.open(for: place, under: old) == seed)
        let otherID = try #require(CredentialID(bytes: [UInt8](repeating: 2, count: 16)))
        let bob = try #require(Subject("bob"))
        for other in [
            SealingContext(id: otherID, subject: alice, kind: .totp),
            SealingContext(id: id, subject: bob, kind: .totp),
            SealingContext(id: id, subject: alice, kind: .hotp),
        ] {
            #expect(throws: VerifierError.self) { try sealed.open(for: other, under: old) }
        }
        #expect(throws: VerifierError.self) { try sealed.open(for: place, under: new) }
    }

    @Test("H-16 no code is accepted for a row that has another row's body")
    func swappedRows() async throws {
        let fixture = try VerifierFixture()
        let mallory = try #require(Subject("mallory"))
        let own = try await fixture.enrolled(for: mallory)
        let victim = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let stolen = try #require(await fixture.store.credential(own.credential))
        let target = try #require(await fixture.store.credential(victim.credential))
        var swapped = target
        swapped.version += 1
        swapped.body = stolen.body
        #expect(try await fixture.store.commit([.updateCredential(swapped)]) == .done)
        await #expect(throws: VerifierError.self) {
            try await fixture.verify(own.code(at: fixture.clock.now))
        }
    }

    @Test(
        "a changed parameter makes the sealed seed unusable",
        arguments: [(8, 6), (59, 60), (59, 30)] as [(UInt8, UInt8)])
    func parameters(_ old: UInt8, _ new: UInt8) async throws {
        let ring = try KeyRing.make()
        let alice = try #require(Subject("alice"))
        let id = try #require(CredentialID(bytes: [UInt8](repeating: 1, count: 16)))
        let place = SealingContext(id: id, subject: alice, kind: .totp)
        let sealed = SealedSeed(
            sealing: SecretBytes(text: "sixteen bytes..."),
            SealedSeed.Parameters(algorithm: .sha1, digits: 8, period: 59), for: place,
            under: ring.current)
        var writer = ByteWriter()
        sealed.write(into: &writer)
        var bytes = writer.bytes
        // The parameters precede the sealed box.
        let parameter = try #require(bytes.firstIndex(of: old))
        bytes[parameter] = new
        var reader = ByteReader(bytes)
        let spoiled = try SealedSeed(from: &reader)
        #expect(spoiled.parameters.digits != 8 || spoiled.parameters.period != 59)
        #expect(throws: VerifierError.self) {
            try spoiled.open(for: place, under: ring.current)
        }
    }

    @Test(
        "V-24 rotation reseals everything while codes are accepted, and the old key is useless")
    func rotation() async throws {
        let fixture = try VerifierFixture()
        var authenticators: [TestAuthenticator] = []
        for index in 0..<30 {
            authenticators.append(
                try await fixture.enrolled(
                    index.isMultiple(of: 2) ? .time(period: 30) : .counter(0)))
        }
        let recovery = try await fixture.verifier.enrolRecoveryCodes(for: #require(Subject("bob")))
        let device = try await fixture.enrolledDevice()
        fixture.clock.advance(seconds: 300)
        try await fixture.keys.change { try $0.adding(makingCurrent: true) }
        let codes = try authenticators.enumerated().map { index, authenticator in
            try index.isMultiple(of: 2)
                ? authenticator.code(at: fixture.clock.now) : authenticator.code(1)
        }
        // Each request specifies its credential. Otherwise the code would count as a failure of the
        // other credentials.
        let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                _ = try await fixture.verifier.rotateKeys(batch: 4)
                return 0
            }
            for (authenticator, code) in zip(authenticators, codes) {
                group.addTask {
                    let outcome = try await fixture.verifier.verify(
                        VerificationRequest(
                            code, of: fixture.alice, credential: authenticator.credential))
                    return outcome.acceptance == nil ? 0 : 1
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(accepted == 30, "no verification failed during the rotation")
        let rotation = try await fixture.verifier.rotateKeys()
        #expect(rotation.left.map(\.credentials) == [[.secret: 1]])
        #expect(rotation.left.map(\.keyID.number) == [1])
        // Digests are only recomputed at the next login.
        #expect(try await fixture.login(device, nonce: 1).acceptance != nil)
        #expect(try await fixture.verifier.rotateKeys() == KeyRotation(resealed: 0, left: []))
        let first = try #require(KeyID(1))
        let oldRing = await fixture.keys.ring
        try await fixture.keys.change { try $0.retiring(first) }
        fixture.clock.advance(seconds: 300)
        let outcome = try await fixture.verifier.verify(
            VerificationRequest(
                authenticators[0].code(at: fixture.clock.now), of: fixture.alice,
                credential: authenticators[0].credential))
        #expect(outcome.acceptance != nil)
        guard case .granted(let grant) = recovery else { throw BenchError.refused }
        #expect(
            try await fixture.verifier.verify(
                PresentedCode(grant.codes[0]), subject: #require(Subject("bob"))
            ).acceptance != nil)
        // The old key alone opens no currently stored seed.
        let row = try #require(await fixture.store.credential(authenticators[0].credential))
        let record = try CredentialRecord(row)
        guard case .time(let password) = record.material else { throw BenchError.refused }
        #expect(throws: VerifierError.self) {
            try password.seed.open(for: record.place, under: oldRing.versions[0])
        }
    }

    @Test("R-06 a lost response can be repeated after a key rotation")
    func rotationOfSecrets() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let first = try #require(try await fixture.login(device, nonce: 1).acceptance)
        try await fixture.keys.change { try $0.adding(makingCurrent: true) }
        let again = try #require(try await fixture.login(device, nonce: 1).acceptance)
        #expect(again.secret.bytes == first.secret.bytes)
        let next = device.with(again.secret)
        #expect(try await fixture.login(next, nonce: 2).acceptance != nil)
        #expect(try await fixture.verifier.keyUsage().map(\.keyID.number) == [2])
        // The marks of earlier secrets are recognised under every key version.
        #expect(try await fixture.login(device, nonce: 3).wipe == .reuseDetected)
    }

    @Test("N-22 V-31 a row whose key is missing is refused with an error")
    func keyMissing() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let device = try await fixture.enrolledDevice()
        fixture.clock.advance(seconds: 300)
        let first = try #require(KeyID(1))
        try await fixture.keys.change {
            try $0.adding(makingCurrent: true).retiring(first)
        }
        func isMissing(_ body: () async throws -> Void) async -> Bool {
            do { try await body() } catch VerifierError.keyMissing(first) { return true } catch {}
            return false
        }
        #expect(
            await isMissing {
                _ = try await fixture.verify(authenticator.code(at: fixture.clock.now))
            })
        #expect(await isMissing { _ = try await fixture.login(device, nonce: 1) })
    }

    @Test("a database restored without its key ring accepts no code and wipes no device")
    func otherRing() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let device = try await fixture.enrolledDevice()
        fixture.clock.advance(seconds: 300)
        try await fixture.keys.change { _ in try KeyRing.make() }
        await #expect(throws: VerifierError.self) {
            try await fixture.verify(authenticator.code(at: fixture.clock.now))
        }
        let outcome = try await fixture.login(device, nonce: 1)
        #expect(outcome.isDenied)
        #expect(outcome.wipe == nil, "an operator's mistake must not wipe a device")
    }
}
