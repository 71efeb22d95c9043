internal import WatchwordCryptography

/// The vault key, encrypted to a slot's public key, as in age and HPKE (RFC 9180, mode_psk).
///
/// The box's key is derived from a key agreement between the slot's pair and an ephemeral pair, and
/// from the slot's authentication key. It is bound to both public keys. The box is bound to the
/// vault and to the rest of the slot's line.
enum SealedVaultKey {
    static func seal(
        _ key: VaultKey, to publicKey: [UInt8], authenticationKey: SecretBytes, lead: [UInt8]
    ) throws(VaultError) -> [UInt8] {
        let ephemeral: AgreementKey
        do { ephemeral = try AgreementKey.make() } catch { throw .cryptography(error) }
        // The header authenticates the public key, and a weak one does not occur by chance.
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
        do {
            return try pair.agreedSecret(with: publicKey.span)
        } catch {
            throw VaultError(error, or: refusal)
        }
    }

    private static func wrappingKey(
        _ agreed: SecretBytes, _ authenticationKey: SecretBytes, salt: [UInt8]
    ) -> SecretBytes {
        VaultKey.derive(
            .slot, from: SecretBytes(joining: agreed, authenticationKey), salt: salt)
    }
}
