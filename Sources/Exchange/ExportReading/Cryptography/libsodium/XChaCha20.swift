internal import CSodium
public import WatchwordCryptography

/// Opens the first message of libsodium's stream of XChaCha20-Poly1305 (`secretstream`).
///
/// The message's tag is not interpreted.
///
/// - Parameters:
///   - key: 32 bytes.
///   - header: The stream's header, 24 bytes.
/// - Throws: ``ContainerError/wrongPassword`` if the message was not sealed with this key and
///   header.
public func openSecretStream(
    _ message: Span<UInt8>, key: SecretBytes, header: Span<UInt8>
) throws(ContainerError) -> SecretBytes {
    try Libraries.prepare()
    let overhead = crypto_secretstream_xchacha20poly1305_abytes()
    guard key.count == crypto_secretstream_xchacha20poly1305_keybytes(),
        header.count == crypto_secretstream_xchacha20poly1305_headerbytes(),
        message.count >= overhead
    else { throw .damaged }
    var state = crypto_secretstream_xchacha20poly1305_state()
    defer {
        unsafe withUnsafeMutableBytes(of: &state) { state in
            unsafe sodium_memzero(state.baseAddress, state.count)
        }
    }
    let started = key.withBytes { key in
        unsafe key.withUnsafeBufferPointer { key in
            unsafe header.withUnsafeBufferPointer { header in
                guard let header = header.baseAddress, let key = key.baseAddress else {
                    return Int32(-1)
                }
                return unsafe crypto_secretstream_xchacha20poly1305_init_pull(&state, header, key)
            }
        }
    }
    guard started == 0 else { throw .wrongPassword }
    return try unsafe SecretBytes(count: message.count - overhead) {
        output throws(ContainerError) in
        var tag: UInt8 = 0
        let pulled = unsafe message.withUnsafeBufferPointer { message in
            guard let start = message.baseAddress else { return Int32(-1) }
            return unsafe crypto_secretstream_xchacha20poly1305_pull(
                &state, output.baseAddress, nil, &tag, start, UInt64(message.count), nil, 0)
        }
        guard pulled == 0 else { throw .wrongPassword }
    }
}

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
