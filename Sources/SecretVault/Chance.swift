internal import Cryptography

/// Random bytes, with the vault's errors.
enum Chance {
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
