internal import WatchwordCryptography

/// Dummy public keys for signatures by credentials that do not exist.
///
/// They are opened like real keys, so that the response time does not reveal whether a credential
/// exists (V-06). The signature is then checked with a key that is never accepted
/// (``DummyPasskeyKey``).
package struct DummyPublicKeys: Sendable {
    private let passkey: CredentialRecord
    private let deviceKey: CredentialRecord
    private let key: KeyVersion

    init(under key: KeyVersion) {
        self.key = key
        var passkey = Self.record(.passkey, under: key)
        var registered = RegisteredPasskey(
            relyingParty: "nobody.example",
            credentialID: [UInt8](repeating: 0, count: 16), publicKey: DummyPublicKeys.nobody,
            model: [UInt8](repeating: 0, count: 16),
            flags: PasskeyFlags(
                isUserVerified: true, isBackupEligible: true, isBackedUp: true))
        registered.transports = ["hybrid", "internal"]
        passkey.material = .passkey(
            PasskeyState(sealing: registered, count: 0, for: passkey.place, under: key))
        self.passkey = passkey
        var deviceKey = Self.record(.key, under: key)
        let point = RegisteredDeviceKey(
            point: DummyPublicKeys.nobodysPoint, custody: .vault, attestationKeyDigest: nil,
            endorsementKeyDigest: nil)
        deviceKey.material = .deviceKey(
            DeviceKeyState(sealing: point, presence: .none, for: deviceKey.place, under: key))
        self.deviceKey = deviceKey
    }

    private static func record(_ kind: CredentialKind, under key: KeyVersion) -> CredentialRecord {
        let nothing = [UInt8](repeating: 0, count: CredentialID.count)
        guard let id = CredentialID(bytes: nothing), let subject = Subject("nobody") else {
            preconditionFailure("the id and the subject are valid")
        }
        var record = CredentialRecord(
            id: id, subject: subject, kind: kind, createdAt: UnixTime(seconds: 0),
            origin: .unknown, state: .active, keyID: key.id, name: "", material: .none)
        record.confirmedAt = record.createdAt
        record.lastUsedAt = record.createdAt
        return record
    }

    package func openPasskey(_ meter: WorkMeter?) throws(VerifierError) {
        meter?.count(.openings)
        if case .passkey(let state) = passkey.material {
            _ = try state.open(for: passkey.place, under: key)
        }
    }

    func openDeviceKey(_ meter: WorkMeter?) throws(VerifierError) {
        meter?.count(.openings)
        if case .deviceKey(let state) = deviceKey.material {
            _ = try state.open(for: deviceKey.place, under: key)
        }
    }

    /// The base point of P-256, whose private key is 1: no signature with this key is ever
    /// accepted.
    package static let nobodysPoint: [UInt8] = [
        0x04,
        0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40,
        0xf2,
        0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2,
        0x96,
        0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e,
        0x16,
        0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51,
        0xf5,
    ]

    /// The same key in COSE.
    package static let nobody: [UInt8] =
        [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + nobodysPoint[1..<33]
        + [0x22, 0x58, 0x20] + nobodysPoint[33...]
}
