internal import CSodium
public import WatchwordCryptography

/// Opens a ciphertext of XChaCha20-Poly1305, followed by its tag, without associated data.
///
/// - Parameters:
///   - key: 32 bytes.
///   - nonce: 24 bytes.
/// - Throws: ``ContainerError/wrongPassword`` if it was not sealed with this key and nonce.
public func openXChaCha20Poly1305(
    _ sealed: Span<UInt8>, key: SecretBytes, nonce: Span<UInt8>
) throws(ContainerError) -> SecretBytes {
    try Libraries.prepare()
    let overhead = crypto_aead_xchacha20poly1305_ietf_abytes()
    guard key.count == crypto_aead_xchacha20poly1305_ietf_keybytes(),
        nonce.count == crypto_aead_xchacha20poly1305_ietf_npubbytes(), sealed.count >= overhead
    else { throw .damaged }
    return try unsafe SecretBytes(count: sealed.count - overhead) {
        output throws(ContainerError) in
        let code = key.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe nonce.withUnsafeBufferPointer { nonce in
                    unsafe sealed.withUnsafeBufferPointer { sealed in
                        guard let key = key.baseAddress, let nonce = nonce.baseAddress,
                            let start = sealed.baseAddress
                        else { return Int32(-1) }
                        return unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                            output.baseAddress, nil, nil, start, UInt64(sealed.count), nil, 0,
                            nonce, key)
                    }
                }
            }
        }
        guard code == 0 else { throw .wrongPassword }
    }
}
