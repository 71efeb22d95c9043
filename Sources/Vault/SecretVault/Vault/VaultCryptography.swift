internal import WatchwordCryptography

/// Requires the algorithms whose use does not throw.
///
/// Whatever reads or creates a vault calls this first.
func requireAlgorithms() throws(VaultError) {
    try VaultError.cryptography(in: fetchAlgorithms())
}

/// Sealed boxes, with the vault's errors.
enum SealedBox {
    static func seal(
        _ plaintext: SecretBytes, under key: SecretBytes, associatedData: [UInt8]
    ) -> [UInt8] {
        sealingKey(key).seal(plaintext, associatedData: associatedData.span)
    }

    /// Opens a box; throws `refusal` unless it was sealed with this key and associated data.
    static func open(
        _ box: [UInt8], under key: SecretBytes, associatedData: [UInt8], or refusal: VaultError
    ) throws(VaultError) -> SecretBytes {
        try VaultError.cryptography(
            in: sealingKey(key).open(box.span, associatedData: associatedData.span), or: refusal)
    }

    private static func sealingKey(_ key: SecretBytes) -> SealingKey {
        do {
            return try SealingKey(key)
        } catch {
            preconditionFailure("every key here has 32 bytes")
        }
    }
}
