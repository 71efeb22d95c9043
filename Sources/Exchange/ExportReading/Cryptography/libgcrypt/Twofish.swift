internal import CGcrypt
public import WatchwordCryptography

/// Decrypts with Twofish in CBC mode, and keeps the padding.
///
/// - Parameters:
///   - key: 32 bytes.
///   - vector: The initialisation vector, 16 bytes.
/// - Throws: ``ContainerError/damaged`` if a length is wrong.
public func decryptTwofishCBC(
    _ ciphertext: Span<UInt8>, key: SecretBytes, vector: Span<UInt8>
) throws(ContainerError) -> SecretBytes {
    guard key.count == 32, vector.count == 16, ciphertext.count.isMultiple(of: 16) else {
        throw .damaged
    }
    let cipher = try GcryptCipher(
        GCRY_CIPHER_TWOFISH, GCRY_CIPHER_MODE_CBC, key: key, vector: vector)
    return try cipher.decrypt(ciphertext)
}
