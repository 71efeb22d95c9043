internal import CGcrypt
public import WatchwordCryptography

/// The keystream of Salsa20 with 20 rounds.
///
/// It continues from call to call: the pieces of a text give the same bytes as the whole text.
public final class Salsa20Stream {
    private let cipher: GcryptCipher

    /// Starts the keystream of a 32-byte key and an 8-byte nonce.
    public init(key: SecretBytes, nonce: Span<UInt8>) throws(ContainerError) {
        guard key.count == 32, nonce.count == 8 else { throw .damaged }
        cipher = try GcryptCipher(
            GCRY_CIPHER_SALSA20, GCRY_CIPHER_MODE_STREAM, key: key, vector: nonce)
    }

    /// Encrypts or decrypts the next bytes.
    public func apply(to bytes: Span<UInt8>) throws(ContainerError) -> SecretBytes {
        try cipher.decrypt(bytes)
    }
}
