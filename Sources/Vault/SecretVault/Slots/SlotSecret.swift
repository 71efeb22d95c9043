internal import WatchwordCryptography

/// The content of an opened slot: its private key, and the key that proves that the sealed vault
/// key was made by somebody who had the vault open.
///
/// Anybody can seal something to a public key. Without the second key, an attacker who can write
/// the file could replace it with their own vault, and the passphrase would open it.
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

    /// The bytes to seal.
    var plaintext: SecretBytes { SecretBytes(joining: pair.secret, authenticationKey) }

    /// Parses ``plaintext``.
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

    /// A copy of the slot with this vault key sealed to it, and no other change.
    func holding(_ key: VaultKey) throws(VaultError) -> TrustedSlot {
        let sealed = try SealedVaultKey.seal(
            key, to: slot.head.publicKey, authenticationKey: authenticationKey, lead: slot.lead)
        return TrustedSlot(
            slot: Slot(head: slot.head, secret: slot.secret, vaultKey: sealed),
            authenticationKey: authenticationKey)
    }
}

extension SecretBytes {
    /// Concatenates two secrets.
    convenience init(joining first: SecretBytes, _ second: SecretBytes) {
        self.init(capacity: first.count + second.count) { output in
            first.withBytes { output.append(copying: $0) }
            second.withBytes { output.append(copying: $0) }
        }
    }
}
