internal import WatchwordCryptography

/// Dummy public keys for signatures by credentials that do not exist.
///
/// They are opened like real ones, so that the response time does not reveal
/// whether a credential exists (V-06). The signature is then checked with a key that nobody may use
/// (``DummyPasskeyKey``).
struct DummyPublicKeys: Sendable {
    private let passkey: CredentialRecord
    private let deviceKey: CredentialRecord
    private let key: KeyVersion

    init(under key: KeyVersion) {
        self.key = key
        var passkey = Self.record(.passkey, under: key)
        let registered = RegisteredPasskey(
            relyingParty: "nobody.example",
            credentialID: [UInt8](repeating: 0, count: 16), publicKey: AssertionCheck.nobody,
            model: [UInt8](repeating: 0, count: 16),
            flags: PasskeyFlags(
                isUserVerified: true, isBackupEligible: true, isBackedUp: true),
            transports: ["hybrid", "internal"], attestation: .none, leafDigest: nil)
        passkey.material = .passkey(
            PasskeyState(sealing: registered, count: 0, for: passkey.place, under: key))
        self.passkey = passkey
        var deviceKey = Self.record(.key, under: key)
        let point = RegisteredDeviceKey(
            point: AssertionCheck.nobodysPoint, custody: .vault, attestationKeyDigest: nil,
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

    func openPasskey(_ meter: WorkMeter?) throws(VerifierError) {
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
}
