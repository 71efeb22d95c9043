internal import CGcrypt
public import WatchwordCryptography

/// Owns libgcrypt's handle of one cipher.
@safe struct GcryptCipher: ~Copyable {
    private let handle: gcry_cipher_hd_t

    init(
        _ algorithm: gcry_cipher_algos, _ mode: gcry_cipher_modes, key: SecretBytes,
        vector: Span<UInt8>
    ) throws(ContainerError) {
        try Libraries.prepare()
        var opened: gcry_cipher_hd_t?
        let code = unsafe gcry_cipher_open(
            &opened, Int32(algorithm.rawValue), Int32(mode.rawValue), 0)
        if let error = Libraries.error(code) { throw error }
        guard let ready = unsafe opened else { throw .outOfMemory }
        let keyed = key.withBytes { key in
            unsafe key.withUnsafeBytes { key in
                unsafe gcry_cipher_setkey(ready, key.baseAddress, key.count)
            }
        }
        let started = unsafe vector.withUnsafeBytes { vector in
            unsafe gcry_cipher_setiv(ready, vector.baseAddress, vector.count)
        }
        if let failure = Libraries.error(keyed) ?? Libraries.error(started) {
            unsafe gcry_cipher_close(ready)
            throw failure
        }
        unsafe handle = ready
    }

    /// Decrypts the next bytes; for a block cipher, whole blocks.
    func decrypt(_ bytes: Span<UInt8>) throws(ContainerError) -> SecretBytes {
        guard !bytes.isEmpty else { return SecretBytes(copying: bytes) }
        return try unsafe SecretBytes(count: bytes.count) {
            output throws(ContainerError) in
            let code = unsafe bytes.withUnsafeBytes { bytes in
                unsafe gcry_cipher_decrypt(
                    handle, output.baseAddress, output.count, bytes.baseAddress, bytes.count)
            }
            if let error = Libraries.error(code) { throw error }
        }
    }

    // The library wipes a handle when it closes it.
    deinit { unsafe gcry_cipher_close(handle) }
}

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
