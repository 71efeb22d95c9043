internal import Cryptography

/// What somebody has who opened a slot: the private half of its key pair, and the key by which the sealed
/// vault key is known to come from somebody who had the vault open.
///
/// Everybody can seal something to a public half. Without the second key, whoever can write the file could
/// put a vault of their own making in its place, and the passphrase would open it.
struct SlotSecret {
    let pair: AgreementKey
    let authenticationKey: SecretBytes

    static let authenticationCount = 32

    /// Makes the secret of a new slot.
    static func make() throws(VaultError) -> SlotSecret {
        do {
            return SlotSecret(
                pair: try AgreementKey.make(),
                authenticationKey: try Randomness.secret(count: authenticationCount))
        } catch {
            throw .cryptography(error)
        }
    }

    private init(pair: AgreementKey, authenticationKey: SecretBytes) {
        self.pair = pair
        self.authenticationKey = authenticationKey
    }

    /// The bytes to be sealed.
    var plaintext: SecretBytes { SecretBytes(joining: pair.secret, authenticationKey) }

    /// Takes what ``plaintext`` makes apart.
    init(reading plaintext: SecretBytes) throws(VaultError) {
        let half = AgreementKey.count
        let (first, second) = plaintext.withBytes { bytes in
            (
                SecretBytes(copying: bytes.extracting(..<half)),
                SecretBytes(copying: bytes.extracting(half...))
            )
        }
        do { pair = try AgreementKey(first) } catch { throw .cryptography(error) }
        authenticationKey = second
    }
}

/// A slot that the header vouches for, and that another vault key can be sealed to.
struct TrustedSlot {
    let slot: Slot
    let authenticationKey: SecretBytes

    /// The same slot with this vault key sealed to it; nothing else of it changes.
    func holding(_ key: VaultKey) throws(VaultError) -> TrustedSlot {
        let sealed = try SealedVaultKey.seal(
            key, to: slot.head.publicKey, authenticationKey: authenticationKey, lead: slot.lead)
        return TrustedSlot(
            slot: Slot(head: slot.head, secret: slot.secret, vaultKey: sealed),
            authenticationKey: authenticationKey)
    }
}

extension SecretBytes {
    /// The bytes of both, one behind the other.
    convenience init(joining first: SecretBytes, _ second: SecretBytes) {
        self.init(capacity: first.count + second.count) { output in
            first.withBytes { output.append(copying: $0) }
            second.withBytes { output.append(copying: $0) }
        }
    }
}
