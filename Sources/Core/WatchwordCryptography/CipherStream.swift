internal import COpenSSL

/// OpenSSL's context for one encryption or decryption without authentication.
@safe struct CipherStream: ~Copyable {
    enum Direction: Int32 {
        case decrypting = 0
        case encrypting = 1
    }

    /// OpenSSL's lengths are `Int32`, so longer input is passed in pieces.
    private static let piece = 1 << 30
    private let context: OpaquePointer

    /// Starts the operation of OpenSSL's cipher `name`.
    ///
    /// An empty vector stands for the cipher's default, if it has one.
    init(
        _ name: String, key: SecretBytes, vector: Span<UInt8>, _ direction: Direction,
        hasPadding: Bool = false
    ) throws(CryptographyError) {
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, name, nil) else {
            throw .failed(CryptographyFailure(.cipher))
        }
        // The context keeps the cipher alive.
        defer { unsafe EVP_CIPHER_free(cipher) }
        guard unsafe key.count == Int(EVP_CIPHER_get_key_length(cipher)) else { throw .keyLength }
        guard unsafe vector.isEmpty || vector.count == Int(EVP_CIPHER_get_iv_length(cipher)) else {
            throw .vectorLength
        }
        guard let ready = unsafe EVP_CIPHER_CTX_new() else {
            throw .failed(CryptographyFailure(.cipher))
        }
        let hasBegun = key.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe vector.withUnsafeBufferPointer { vector in
                    // OpenSSL uses a key-wrapping cipher only in a context with this flag.
                    unsafe EVP_CIPHER_CTX_set_flags(ready, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
                    return unsafe EVP_CipherInit_ex(
                        ready, cipher, nil, key.baseAddress,
                        vector.isEmpty ? nil : vector.baseAddress, direction.rawValue) == 1
                        && EVP_CIPHER_CTX_set_padding(ready, hasPadding ? 1 : 0) == 1
                }
            }
        }
        guard hasBegun else {
            unsafe EVP_CIPHER_CTX_free(ready)
            throw .failed(CryptographyFailure(.cipher))
        }
        unsafe context = ready
    }

    /// Processes `bytes` and returns the number of bytes written to `output`, which has room for
    /// a block more than `bytes`; `nil` if OpenSSL refuses them.
    func update(_ bytes: Span<UInt8>, into output: UnsafeMutablePointer<UInt8>) -> Int? {
        var start = 0
        var total = 0
        while start < bytes.count {
            let end = min(start + Self.piece, bytes.count)
            var written: Int32 = 0
            let done = unsafe bytes.extracting(start..<end).withUnsafeBufferPointer { piece in
                unsafe EVP_CipherUpdate(
                    context, output + total, &written, piece.baseAddress, Int32(piece.count))
            }
            guard done == 1 else { return nil }
            total += Int(written)
            start = end
        }
        return total
    }

    /// Ends the operation and returns the number of bytes written to `output`; `nil` if the padding
    /// is invalid or the last block is incomplete.
    func finish(into output: UnsafeMutablePointer<UInt8>) -> Int? {
        var written: Int32 = 0
        guard unsafe EVP_CipherFinal_ex(context, output, &written) == 1 else { return nil }
        return Int(written)
    }

    // OpenSSL wipes a context when it frees it.
    deinit { unsafe EVP_CIPHER_CTX_free(context) }
}

/// The keystream of ChaCha20 (RFC 8439, section 2.4), without authentication.
///
/// It continues from call to call: the pieces of a text give the same bytes as the whole text.
public final class ChaCha20Stream {
    private let stream: CipherStream

    /// Starts the keystream of a 32-byte key and a 12-byte nonce.
    ///
    /// - Parameter counter: The number of the first block.
    public init(
        key: SecretBytes, nonce: Span<UInt8>, counter: UInt32 = 0
    ) throws(CryptographyError) {
        guard nonce.count == 12 else { throw .vectorLength }
        // OpenSSL's vector begins with the counter.
        let vector = [UInt8](capacity: 16) { output in
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                output.append(UInt8(truncatingIfNeeded: counter >> shift))
            }
            output.append(copying: nonce)
        }
        stream = try CipherStream("ChaCha20", key: key, vector: vector.span, .encrypting)
    }

    /// Encrypts or decrypts the next bytes.
    public func apply(to bytes: Span<UInt8>) throws(CryptographyFailure) -> SecretBytes {
        try unsafe SecretBytes(count: bytes.count) { output throws(CryptographyFailure) in
            guard let start = output.baseAddress else { return }
            guard unsafe stream.update(bytes, into: start) == bytes.count else {
                throw CryptographyFailure(.cipher)
            }
        }
    }
}
