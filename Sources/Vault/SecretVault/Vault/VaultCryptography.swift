internal import WatchwordCryptography

/// Random bytes, with the vault's errors.
enum VaultRandomness {
    /// Random bytes that are not secret.
    static func bytes(count: Int) throws(VaultError) -> [UInt8] {
        do { return try Randomness.bytes(count: count) } catch { throw .cryptography(error) }
    }

    /// Secret random bytes.
    static func secret(count: Int) throws(VaultError) -> SecretBytes {
        do { return try Randomness.secret(count: count) } catch { throw .cryptography(error) }
    }
}

/// The SHA-256 digest of `bytes`.
func digest(of bytes: Span<UInt8>) throws(VaultError) -> [UInt8] {
    do { return try sha256(bytes) } catch { throw .cryptography(error) }
}

/// Sealed boxes, with the vault's errors.
enum SealedBox {
    static func seal(
        _ plaintext: SecretBytes, under key: SecretBytes, associatedData: [UInt8]
    ) throws(VaultError) -> [UInt8] {
        let sealing = try SealedBox.sealingKey(key)
        do {
            return try sealing.seal(plaintext, associatedData: associatedData.span)
        } catch {
            throw .cryptography(error)
        }
    }

    /// Opens a box; throws `refusal` unless it was sealed with this key and associated data.
    static func open(
        _ box: [UInt8], under key: SecretBytes, associatedData: [UInt8], or refusal: VaultError
    ) throws(VaultError) -> SecretBytes {
        let sealing = try SealedBox.sealingKey(key)
        do {
            return try sealing.open(box.span, associatedData: associatedData.span)
        } catch {
            throw VaultError(error, or: refusal)
        }
    }

    private static func sealingKey(_ key: SecretBytes) throws(VaultError) -> SealingKey {
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
