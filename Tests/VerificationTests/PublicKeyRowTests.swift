import StoreContract
import Testing
import WatchwordCryptography

@testable import Verification

/// The stored rows of passkeys and device keys.
@Suite("Rows of public keys")
struct PublicKeyRowTests {
    @Test("a passkey with every value at its limits decodes unchanged")
    func roundTrip() async throws {
        let samples = try SampleKeys()
        for passkey in [SampleKeys.passkey(), .largest] {
            var record = try samples.record(.passkey, fingerprint: 1)
            var state = samples.sealed(passkey, in: record)
            for number in UInt8(0)..<10 {
                state.record(device: SampleKeys.bytes(number, 32), at: .at(Int64(number)))
            }
            state.stepUp = PasskeyState.OpenStepUp(
                verification: try #require(VerificationID(bytes: SampleKeys.bytes(9, 16))),
                time: .at(9), flags: passkey.flags, count: .max, device: SampleKeys.bytes(8, 32))
            record.material = .passkey(state)
            let read = try CredentialRecord(record.row)
            guard case .passkey(let found) = read.material else { throw BenchError.refused }
            #expect(found == state)
            #expect(try found.open(for: read.place, under: samples.key) == passkey)
            // The last eight devices are known.
            #expect(
                (UInt8(0)..<10).map { found.knows(SampleKeys.bytes($0, 32)) }
                    == (0..<10).map { $0 >= 2 })
        }
    }

    @Test("a pending passkey keeps its challenge and its policy")
    func pending() throws {
        let samples = try SampleKeys()
        let policy = PasskeyPolicy(
            userVerification: .discouraged, backup: .deviceBound, attestation: .trusted,
            counter: .deny, discoverable: .preferred)
        for replaces in [nil, samples.id(2)] {
            let pending = PendingPasskey(
                challenge: SampleKeys.bytes(3, 32), relyingParty: "mill.example", policy: policy,
                replaces: replaces)
            var record = try samples.record(.passkey)
            record.keyID = nil
            record.material = .pendingPasskey(pending)
            guard case .pendingPasskey(let found) = try CredentialRecord(record.row).material else {
                throw BenchError.refused
            }
            #expect(found == pending)
        }
    }

    @Test("a device key decodes unchanged", arguments: KeyCustody.allCases)
    func deviceKey(custody: KeyCustody) throws {
        let samples = try SampleKeys()
        let key = RegisteredDeviceKey(
            point: SampleKeys.bytes(4, 65), custody: custody,
            attestationKeyDigest: custody == .attestedTPM ? SampleKeys.bytes(5, 32) : nil,
            endorsementKeyDigest: custody == .attestedTPM ? SampleKeys.bytes(6, 32) : nil)
        var record = try samples.record(.key)
        record.material = .deviceKey(
            DeviceKeyState(
                sealing: key, presence: .advisory, for: record.place, under: samples.key))
        let read = try CredentialRecord(record.row)
        guard case .deviceKey(let found) = read.material else { throw BenchError.refused }
        #expect(try found.open(for: read.place, under: samples.key) == key)
    }

    @Test("K-81 N-23 a flipped byte never yields a different public key")
    func flipped() throws {
        let samples = try SampleKeys()
        let passkey = SampleKeys.passkey()
        var record = try samples.record(.passkey, fingerprint: 1)
        record.material = .passkey(samples.sealed(passkey, in: record))
        let row = record.row
        let code = samples.ring.auditKey.code(of: row)
        var refused = 0
        for place in row.body.indices {
            var body = row.body
            body[place] ^= 1
            let edited = row.with(body: body)
            // No store returns the row.
            #expect(!samples.ring.auditKey.isAuthentic(edited, by: code))
            // Even in a store that does not check the row, the key cannot be replaced.
            do {
                let read = try CredentialRecord(edited)
                guard case .passkey(let state) = read.material else { throw BenchError.refused }
                #expect(try state.open(for: read.place, under: samples.key) == passkey)
            } catch { refused += 1 }
        }
        #expect(refused > 150, "the registration is sealed")
    }

    @Test("K-81 N-23 a public key opens only in its own row, and under its own key")
    func swapped() throws {
        let samples = try SampleKeys()
        let record = try samples.record(.passkey, fingerprint: 1)
        let state = samples.sealed(.passkey(), in: record)
        let key = DeviceKeyState(
            sealing: RegisteredDeviceKey(
                point: SampleKeys.bytes(4, 65), custody: .vault, attestationKeyDigest: nil,
                endorsementKeyDigest: nil),
            presence: .none, for: record.place, under: samples.key)
        let bob = try #require(Subject("bob"))
        for other in [
            SealingContext(id: samples.id(2), subject: record.subject, kind: .passkey),
            SealingContext(id: record.id, subject: bob, kind: .passkey),
            SealingContext(id: record.id, subject: record.subject, kind: .key),
        ] {
            #expect(throws: VerifierError.self) { try state.open(for: other, under: samples.key) }
            #expect(throws: VerifierError.self) { try key.open(for: other, under: samples.key) }
        }
        let ring = try samples.ring.adding(makingCurrent: true)
        #expect(throws: VerifierError.self) {
            try state.open(for: record.place, under: ring.current)
        }
        // A device key in the place of a passkey, although both belong to the same row.
        let box = SealedRowData(
            sealing: [1, 2, 3], as: "watchword device key", for: record.place,
            under: samples.key)
        var writer = ByteWriter()
        box.write(into: &writer)
        PasskeyFlags(isUserVerified: true, isBackupEligible: false, isBackedUp: false)
            .write(into: &writer)
        writer.write(true)
        writer.write(UInt32(0))
        writer.write(UInt8(0))
        writer.write(false)
        writer.write(UInt8(0))
        var reader = ByteReader(writer.bytes)
        let crossed = try PasskeyState(from: &reader)
        #expect(throws: VerifierError.self) {
            try crossed.open(for: record.place, under: samples.key)
        }
    }

    @Test("V-24 a key rotation reseals passkeys and device keys, revoked ones included")
    func rotated() async throws {
        let fixture = try VerifierFixture()
        let samples = try SampleKeys(await fixture.keys.ring)
        var passkey = try samples.record(.passkey, number: 1, fingerprint: 1)
        passkey.material = .passkey(samples.sealed(.largest, in: passkey))
        var key = try samples.record(.key, number: 2, fingerprint: 2)
        key.material = .deviceKey(samples.sealed(in: key))
        var revoked = try samples.record(.key, number: 3, fingerprint: 3)
        revoked.material = .deviceKey(samples.sealed(in: revoked))
        revoked.end(as: .revoked, because: .revoked, at: fixture.clock.now)
        for record in [passkey, key, revoked] {
            #expect(try await fixture.store.commit([.insertCredential(record.row)]) == .done)
        }
        try await fixture.keys.change { try $0.adding(makingCurrent: true) }
        #expect(try await fixture.verifier.rotateKeys() == KeyRotation(resealed: 3, left: []))
        let first = try #require(KeyID(1))
        try await fixture.keys.change { try $0.retiring(first) }
        let current = await fixture.keys.ring.current
        for record in [passkey, key, revoked] {
            let row = try #require(try await fixture.store.credential(record.id))
            let read = try CredentialRecord(row)
            #expect(row.keyID == current.id)
            switch read.material {
            case .passkey(let state):
                #expect(try state.open(for: read.place, under: current) == .largest)
            case .deviceKey(let state):
                #expect(
                    try state.open(for: read.place, under: current).point
                        == SampleKeys.bytes(4, 65))
            default: Issue.record("\(read.kind)")
            }
        }
    }

    @Test("a credential that ends keeps its fingerprint, and a device key also keeps its point")
    func ended() throws {
        let samples = try SampleKeys()
        var passkey = try samples.record(.passkey, fingerprint: 1)
        passkey.material = .passkey(samples.sealed(.passkey(), in: passkey))
        passkey.end(as: .revoked, because: .revoked, at: .at(1))
        let passkeyRow = try CredentialRecord(passkey.row)
        #expect(passkeyRow.fingerprint == SampleKeys.bytes(1, 32))
        #expect(passkeyRow.keyID == nil)
        guard case .none = passkeyRow.material else { throw BenchError.refused }

        var key = try samples.record(.key, fingerprint: 2)
        key.material = .deviceKey(samples.sealed(in: key))
        var unconfirmed = key
        key.end(as: .revoked, because: .accountClosed, at: .at(1))
        let row = try CredentialRecord(key.row)
        #expect(row.fingerprint == SampleKeys.bytes(2, 32))
        guard case .deviceKey(let state) = row.material else { throw BenchError.refused }
        #expect(
            try state.open(for: row.place, under: samples.key).point == SampleKeys.bytes(4, 65))

        // A key that was never confirmed can be enrolled again.
        unconfirmed.confirmedAt = nil
        unconfirmed.end(as: .revoked, because: .lapsed, at: .at(1))
        #expect(unconfirmed.fingerprint == nil)
        guard case .none = unconfirmed.material else { throw BenchError.refused }
    }

    @Test(
        "K-82 after a restore, passkeys and device keys stay active unless they are known to have ended"
    )
    func restored() throws {
        let samples = try SampleKeys()
        var passkey = try samples.record(.passkey, fingerprint: 1)
        var state = samples.sealed(.passkey(), in: passkey)
        state.record(count: 7)
        state.record(device: SampleKeys.bytes(3, 32), at: .at(0))
        passkey.material = .passkey(state)
        state.stepUp = PasskeyState.OpenStepUp(
            verification: try #require(VerificationID(bytes: SampleKeys.bytes(9, 16))),
            time: .at(0), flags: state.flags, count: 9, device: nil)
        var waiting = passkey
        waiting.material = .passkey(state)
        var key = try samples.record(.key, fingerprint: 2)
        key.material = .deviceKey(samples.sealed(in: key))
        for record in [passkey, waiting, key] {
            let kept = try #require(try record.row.afterRestoring(at: .at(1)))
            #expect(kept.row.state == .active)
            #expect(kept.event.kind == .restored)
            let read = try CredentialRecord(kept.row)
            switch (read.material, passkey.material) {
            // The count, the devices and the key are kept; the open step-up is not.
            case (.passkey(let found), .passkey(let expected)): #expect(found == expected)
            case (.deviceKey(let found), _):
                _ = try found.open(for: read.place, under: samples.key)
            default: Issue.record("\(read.kind)")
            }
            let ended = try #require(try record.row.afterRestoring(at: .at(1), hasEnded: true))
            #expect(ended.isEnded)
            #expect(ended.row.fingerprint == record.fingerprint)
        }
        var pending = try samples.record(.passkey)
        pending.state = .pending
        pending.confirmedAt = nil
        pending.keyID = nil
        pending.material = .pendingPasskey(
            PendingPasskey(
                challenge: SampleKeys.bytes(3, 32), relyingParty: "mill.example",
                policy: .standard, replaces: nil))
        #expect(try pending.row.afterRestoring(at: .at(1))?.isEnded == true)
    }

    @Test("the index of a passkey depends on its id and its relying party")
    func fingerprints() throws {
        let lookup = try KeyRing.make().lookup
        let prints = [
            lookup.fingerprint(ofPasskey: [1, 2], for: "mill.example"),
            lookup.fingerprint(ofPasskey: [1, 3], for: "mill.example"),
            lookup.fingerprint(ofPasskey: [1, 2], for: "other.example"),
            lookup.fingerprint(ofDeviceKey: [1, 2]),
            lookup.userHandle(of: try #require(Subject("alice"))),
            lookup.userHandle(of: try #require(Subject("bob"))),
            lookup.fingerprint(ofSetFor: try #require(Subject("alice"))),
        ]
        #expect(Set(prints).count == prints.count)
        #expect(prints.allSatisfy { $0.count == 32 })
        #expect(
            lookup.fingerprint(ofPasskey: [1, 2], for: "mill.example") == prints[0])
    }
}

extension CredentialRow {
    fileprivate func with(body: [UInt8]) -> CredentialRow {
        var row = self
        row.body = body
        return row
    }
}
