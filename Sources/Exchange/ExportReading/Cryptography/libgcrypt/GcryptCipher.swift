internal import CGcrypt
internal import WatchwordCryptography

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
