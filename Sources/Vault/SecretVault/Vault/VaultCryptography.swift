internal import WatchwordCryptography

/// Requires the algorithms whose use does not throw.
///
/// Whatever reads or creates a vault calls this first.
func requireAlgorithms() throws(VaultError) {
    do { try fetchAlgorithms() } catch { throw .cryptography(error) }
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
        do {
            return try sealingKey(key).open(box.span, associatedData: associatedData.span)
        } catch {
            throw VaultError(error, or: refusal)
        }
    }

    private static func sealingKey(_ key: SecretBytes) -> SealingKey {
        do {
            return try SealingKey(key)
        } catch {
            preconditionFailure("every key here has 32 bytes")
        }
    }
}

extension VaultError {
    /// `refusal`, unless a call into OpenSSL failed.
    init(_ error: CryptographyError, or refusal: VaultError) {
        if case .failed(let failure) = error {
            self = .cryptography(failure)
        } else {
            self = refusal
        }
    }
}
