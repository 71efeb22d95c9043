internal import Synchronization
internal import WatchwordCryptography

/// The vault key, and the keys that are derived from it.
///
/// All copies share its bytes, which one thread may wipe while others use the vault.
struct VaultKey: Sendable {
    private let bytes: Bytes
    let vaultID: [UInt8]
    /// The keys of this device, which stay the same when the vault gets a new key.
    private(set) var devices = DeviceKeyRing()

    static let count = 32

    private final class Bytes: Sendable {
        /// The 32 bytes; `nil` after they were wiped.
        let secret: Mutex<SecretBytes?>

        init(_ secret: SecretBytes) { self.secret = Mutex(SecretBytes(key: secret)) }
    }

    init(secret: SecretBytes, vaultID: [UInt8]) {
        bytes = Bytes(secret)
        self.vaultID = vaultID
    }

    /// The same vault key, with these device keys.
    func sharing(_ devices: DeviceKeyRing) -> VaultKey {
        var key = self
        key.devices = devices
        return key
    }

    /// Lends the key to `body`, which must not store it: the bytes are wiped when they are no
    /// longer in use.
    ///
    /// - Throws: ``VaultError/busy`` after ``wipe()``.
    func withSecret<Result>(
        _ body: (SecretBytes) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try bytes.secret.withLock { secret throws(VaultError) in
            guard let secret else { throw .busy }
            return try body(secret)
        }
    }

    /// Wipes the keys for all users of the vault; their next operation that needs a key fails.
    func wipe() {
        bytes.secret.withLock { $0 = nil }
        devices.wipe()
    }

    /// Whether the vault key's memory cannot be written to swap; the keys of this device are
    /// checked when they are loaded.
    var isLocked: Bool {
        bytes.secret.withLock { secret in
            guard let secret else { return true }
            return secret.isLocked
        }
    }

    /// Whether both have the same bytes, compared in constant time.
    func isEqual(to other: VaultKey) throws(VaultError) -> Bool {
        guard bytes !== other.bytes else { return true }
        let known = try other.withSecret { SecretBytes(key: $0) }
        return try withSecret { $0 == known }
    }

    /// The purpose of a derived key; no two purposes share a key.
    enum Purpose: String {
        case header, manifest, record, fingerprint, uses, rekey
        case slot
        case recoverySlot = "recovery-slot"
        case tpm2Slot = "tpm2-slot"
        case fido2Slot = "fido2-slot"
    }

    /// Generates the key of a new vault.
    static func make() -> VaultKey {
        make(of: Randomness.bytes(count: VaultDocument.vaultIDCount))
    }

    /// Generates a new key for an existing vault, as for a rekey.
    static func make(of vaultID: [UInt8]) -> VaultKey {
        VaultKey(secret: Randomness.secret(count: count), vaultID: vaultID)
    }

    /// Derives the key for `purpose`, for one record if `id` is given.
    func derived(for purpose: Purpose, of id: RecordID? = nil) throws(VaultError) -> SecretBytes {
        try withSecret { secret in
            VaultKey.derive(purpose, from: secret, salt: vaultID, suffix: id?.bytes ?? [])
        }
    }

    /// Derives a key for `purpose` from any secret with HKDF-SHA-256.
    static func derive(
        _ purpose: Purpose, from secret: SecretBytes, salt: [UInt8], suffix: [UInt8] = []
    ) -> SecretBytes {
        let info = Array("watchword-vault 1 \(purpose.rawValue)".utf8) + suffix
        return hkdfSHA256(secret: secret, salt: salt.span, info: info.span, count: count)
    }

    /// The ID of the save that gives a vault this key in place of its former one.
    ///
    /// The ID can be computed only with the key, and only files saved since that save contain it,
    /// so it shows which of two keys is newer.
    func rekeySave() throws(VaultError) -> SaveID {
        try derived(for: .rekey).withBytes { SaveID($0.extracting(first: SaveID.count)) }
    }

    /// The HMAC-SHA-256 of the header.
    func mac(of header: Span<UInt8>) throws(VaultError) -> [UInt8] {
        let key = try derived(for: .header)
        return hmac(.sha256, key: key, message: header)
    }

    /// 16 bytes that are equal for equal secrets, and reveal nothing without the vault key.
    ///
    /// - Parameter device: the device to which the record is bound, if it is.
    func fingerprint(
        of payload: RecordPayload, for device: DeviceID? = nil
    ) throws(VaultError) -> [UInt8] {
        guard let device else { return payload.fingerprint(under: try derived(for: .fingerprint)) }
        return try self.device(device).fingerprint(of: payload, in: vaultID)
    }

    /// The key of a device to which a record is bound.
    ///
    /// - Throws: the reason why the key is not available.
    func device(_ id: DeviceID) throws(VaultError) -> DeviceKey {
        guard let key = try devices.key(id) else { throw devices.refusal(of: id) }
        return key
    }
}

/// The vault key, encrypted to a slot's public key, as in age and HPKE (RFC 9180, mode_psk).
///
/// The box's key is derived from a key agreement between the slot's pair and an ephemeral pair, and
/// from the slot's authentication key. It is bound to both public keys. The box is bound to the
/// vault and to the rest of the slot's line.
enum SealedVaultKey {
    static func seal(
        _ key: VaultKey, to publicKey: [UInt8], authenticationKey: SecretBytes, lead: [UInt8]
    ) throws(VaultError) -> [UInt8] {
        let ephemeral = try VaultError.cryptography(in: AgreementKey.make())
        // The header authenticates the public key, and a weak key does not occur by chance.
        let agreed = try agreedSecret(ephemeral, with: publicKey, or: .damaged(.header))
        let wrapping = wrappingKey(
            agreed, authenticationKey, salt: ephemeral.publicKey + publicKey)
        let box = try key.withSecret { secret in
            SealedBox.seal(
                secret, under: wrapping, associatedData: VaultLines.vault(key.vaultID) + lead)
        }
        return ephemeral.publicKey + box
    }

    /// Opens the result of ``seal(_:to:authenticationKey:lead:)``; throws `refusal` for anything
    /// else.
    static func open(
        _ sealed: [UInt8], with secret: SlotSecret, vaultID: [UInt8], lead: [UInt8],
        or refusal: VaultError
    ) throws(VaultError) -> VaultKey {
        let ephemeral = Array(sealed.prefix(AgreementKey.count))
        let agreed = try agreedSecret(secret.pair, with: ephemeral, or: refusal)
        let wrapping = wrappingKey(
            agreed, secret.authenticationKey, salt: ephemeral + secret.pair.publicKey)
        let key = try SealedBox.open(
            Array(sealed.dropFirst(AgreementKey.count)), under: wrapping,
            associatedData: VaultLines.vault(vaultID) + lead, or: refusal)
        return VaultKey(secret: key, vaultID: vaultID)
    }

    private static func agreedSecret(
        _ pair: AgreementKey, with publicKey: [UInt8], or refusal: VaultError
    ) throws(VaultError) -> SecretBytes {
        try VaultError.cryptography(in: pair.agreedSecret(with: publicKey.span), or: refusal)
    }

    private static func wrappingKey(
        _ agreed: SecretBytes, _ authenticationKey: SecretBytes, salt: [UInt8]
    ) -> SecretBytes {
        VaultKey.derive(
            .slot, from: SecretBytes(joining: agreed, authenticationKey), salt: salt)
    }
}

/// The content of an opened slot: its private key, and the key that proves that the sealed vault
/// key was made by a process that had the vault open.
///
/// Anyone can seal data to a public key. Without the second key, an attacker who can write the file
/// could replace it with their own vault, and the passphrase would open it.
struct SlotSecret {
    let pair: AgreementKey
    let authenticationKey: SecretBytes

    static let authenticationCount = 32

    /// Generates the secret of a new slot.
    static func make() throws(VaultError) -> SlotSecret {
        SlotSecret(
            pair: try VaultError.cryptography(in: AgreementKey.make()),
            authenticationKey: Randomness.secret(count: authenticationCount))
    }

    private init(pair: AgreementKey, authenticationKey: SecretBytes) {
        self.pair = pair
        self.authenticationKey = authenticationKey
    }

    var plaintext: SecretBytes { SecretBytes(joining: pair.secret, authenticationKey) }

    init(reading plaintext: SecretBytes) throws(VaultError) {
        let half = AgreementKey.count
        let (first, second) = plaintext.withBytes { bytes in
            (
                SecretBytes(copying: bytes.extracting(..<half)),
                SecretBytes(copying: bytes.extracting(half...))
            )
        }
        pair = try VaultError.cryptography(in: AgreementKey(first))
        authenticationKey = second
    }
}

/// A slot that the header authenticates, so that another vault key may be sealed to it.
struct TrustedSlot {
    let slot: Slot
    let authenticationKey: SecretBytes

    /// A copy of the slot with this vault key sealed to it, and otherwise unchanged.
    func holding(_ key: VaultKey) throws(VaultError) -> TrustedSlot {
        let sealed = try SealedVaultKey.seal(
            key, to: slot.head.publicKey, authenticationKey: authenticationKey, lead: slot.lead)
        return TrustedSlot(
            slot: Slot(head: slot.head, secret: slot.secret, vaultKey: sealed),
            authenticationKey: authenticationKey)
    }
}

extension SecretBytes {
    /// Concatenates two secrets in wiped memory.
    convenience init(joining first: SecretBytes, _ second: SecretBytes) {
        self.init(capacity: first.count + second.count) { output in
            first.withBytes { output.append(copying: $0) }
            second.withBytes { output.append(copying: $0) }
        }
    }
}

/// Requires the algorithms whose use does not throw.
///
/// Every operation that reads or creates a vault calls this first.
func requireAlgorithms() throws(VaultError) {
    try VaultError.cryptography(in: fetchAlgorithms())
}

/// Seals and opens boxes, and reports failures as ``VaultError``.
enum SealedBox {
    static func seal(
        _ plaintext: SecretBytes, under key: SecretBytes, associatedData: [UInt8]
    ) -> [UInt8] {
        SealingKey(key).seal(plaintext, associatedData: associatedData.span)
    }

    /// Opens a box; throws `refusal` unless it was sealed with this key and associated data.
    static func open(
        _ box: [UInt8], under key: SecretBytes, associatedData: [UInt8], or refusal: VaultError
    ) throws(VaultError) -> SecretBytes {
        try VaultError.cryptography(
            in: SealingKey(key).open(box.span, associatedData: associatedData.span), or: refusal)
    }
}
