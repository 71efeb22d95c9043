import StoreContract
import Testing
import WatchwordCryptography

@testable import Verification

/// Records of public keys with arbitrary content, and the key that seals them.
struct SampleKeys {
    let ring: KeyRing
    var key: KeyVersion { ring.current }

    init(_ ring: KeyRing? = nil) throws { self.ring = try ring ?? KeyRing.make() }

    static func bytes(_ value: UInt8, _ count: Int) -> [UInt8] {
        [UInt8](repeating: value, count: count)
    }

    func id(_ number: Int) -> CredentialID { .sample(number) }

    /// An active credential without its material.
    func record(
        _ kind: CredentialKind, number: Int = 1, fingerprint: UInt8? = nil
    ) throws -> CredentialRecord {
        var record = CredentialRecord(
            id: id(number), subject: .sample("alice"), kind: kind, createdAt: .at(0),
            origin: .unknown, state: .active, name: "laptop", material: .none)
        record.keyID = key.id
        record.fingerprint = fingerprint.map { Self.bytes($0, 32) }
        record.confirmedAt = .at(0)
        return record
    }

    func sealed(_ passkey: RegisteredPasskey, in record: CredentialRecord) -> PasskeyState {
        PasskeyState(sealing: passkey, count: 0, for: record.place, under: key)
    }

    /// A device key whose point consists of the byte 4.
    func sealed(in record: CredentialRecord) -> DeviceKeyState {
        DeviceKeyState(
            sealing: RegisteredDeviceKey(
                point: Self.bytes(4, 65), custody: .tpm, attestationKeyDigest: nil,
                endorsementKeyDigest: nil),
            presence: .none, for: record.place, under: key)
    }

    static func passkey() -> RegisteredPasskey { .passkey() }
}

extension RegisteredPasskey {
    static func passkey() -> RegisteredPasskey {
        var passkey = RegisteredPasskey(
            relyingParty: "mill.example", credentialID: SampleKeys.bytes(1, 16),
            publicKey: SampleKeys.bytes(2, 77), model: SampleKeys.bytes(0, 16),
            flags: PasskeyFlags(isUserVerified: true, isBackupEligible: true, isBackedUp: false))
        passkey.transports = ["internal"]
        return passkey
    }

    /// A registration in which every value is at its upper limit.
    static var largest: RegisteredPasskey {
        var passkey = RegisteredPasskey(
            relyingParty: String(repeating: "a", count: 253),
            credentialID: SampleKeys.bytes(1, maximumIDCount),
            publicKey: SampleKeys.bytes(2, 600), model: SampleKeys.bytes(255, 16),
            flags: PasskeyFlags(isUserVerified: true, isBackupEligible: true, isBackedUp: true))
        passkey.transports = Array(
            repeating: String(repeating: "t", count: maximumTransportCount),
            count: maximumTransports)
        passkey.attestation = .trusted
        passkey.leafDigest = SampleKeys.bytes(3, 32)
        return passkey
    }
}
