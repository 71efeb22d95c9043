internal import COpenSSL

/// A mode of operation of AES without authentication (NIST SP 800-38A).
public enum AESMode: String, CaseIterable, Hashable, Sendable {
    case ecb = "ECB"
    case cbc = "CBC"
    /// Full-block cipher feedback.
    case cfb = "CFB"
}

/// Decrypts with AES, for files of other programs.
///
/// Nothing protects the result from manipulation. The key has 16, 24 or 32 bytes.
///
/// - Parameters:
///   - vector: The initialisation vector, 16 bytes; empty in the mode ECB.
///   - hasPadding: Whether the text ends with PKCS #7 padding, which is removed.
/// - Throws: ``CryptographyError/wrongKey`` if the padding is invalid; one wrong key in about 256
///   produces valid padding.
public func decryptAES(
    _ ciphertext: Span<UInt8>, mode: AESMode, key: SecretBytes, vector: Span<UInt8>,
    hasPadding: Bool
) throws(CryptographyError) -> SecretBytes {
    guard [16, 24, 32].contains(key.count) else { throw .keyLength }
    guard vector.count == (mode == .ecb ? 0 : blockCount) else { throw .vectorLength }
    guard mode == .cfb || ciphertext.count.isMultiple(of: blockCount),
        !hasPadding || !ciphertext.isEmpty
    else { throw .ciphertextLength }
    let stream = try CipherStream(
        "AES-\(8 * key.count)-\(mode.rawValue)", key: key, vector: vector, .decrypting,
        hasPadding: hasPadding)
    return try process(ciphertext, with: stream)
}

/// Encrypts with AES in CFB mode with an all-zero initialisation vector, as TPMs do.
///
/// The result is not authenticated. The key has 16, 24 or 32 bytes and must not be
/// used for another message.
public func encryptAESCFB(
    _ secret: SecretBytes, key: SecretBytes
) throws(CryptographyError) -> [UInt8] {
    guard [16, 24, 32].contains(key.count) else { throw .keyLength }
    let vector = [UInt8](repeating: 0, count: blockCount)
    let stream = try CipherStream(
        "AES-\(8 * key.count)-CFB", key: key, vector: vector.span, .encrypting)
    let encrypted = try secret.withBytes { secret throws(CryptographyError) in
        try process(secret, with: stream)
    }
    return encrypted.withBytes { [UInt8](copying: $0) }
}

/// Unwraps a key that was wrapped with AES (RFC 3394).
///
/// - Throws: ``CryptographyError/wrongKey`` if the key of 16, 24 or 32 bytes did not wrap it.
public func unwrapKey(
    _ wrapped: Span<UInt8>, with key: SecretBytes
) throws(CryptographyError) -> SecretBytes {
    guard [16, 24, 32].contains(key.count) else { throw .keyLength }
    // The wrapped key has at least two blocks of 8 bytes, and one more for the check value.
    guard wrapped.count.isMultiple(of: 8), (24...(1 << 20)).contains(wrapped.count) else {
        throw .ciphertextLength
    }
    let none: [UInt8] = []
    let stream = try CipherStream(
        "AES-\(8 * key.count)-WRAP", key: key, vector: none.span, .decrypting)
    return try process(wrapped, with: stream)
}

/// Encrypts each 16-byte block of `blocks` `rounds` times with AES-256, as KeePass' AES-KDF does.
///
/// - Throws: ``CryptographyError/keyLength`` or ``CryptographyError/ciphertextLength``.
public func encryptRepeatedly(
    _ blocks: SecretBytes, key: SecretBytes, rounds: UInt64
) throws(CryptographyError) -> SecretBytes {
    guard blocks.count.isMultiple(of: blockCount) else { throw .ciphertextLength }
    return try unsafe SecretBytes(count: blocks.count) { output throws(CryptographyError) in
        for start in stride(from: 0, to: blocks.count, by: blockCount) {
            let block = try blocks.withBytes { blocks throws(CryptographyError) in
                try encryptRepeatedly(
                    blocks.extracting(start..<(start + blockCount)), key: key, rounds: rounds)
            }
            block.withBytes { block in
                for index in block.indices { unsafe output[start + index] = block[index] }
            }
        }
    }
}

/// The last block of CBC over zeros, with the block as vector: one call instead of one per round.
private func encryptRepeatedly(
    _ block: Span<UInt8>, key: SecretBytes, rounds: UInt64
) throws(CryptographyError) -> SecretBytes {
    let stream = try CipherStream("AES-256-CBC", key: key, vector: block, .encrypting)
    var last = SecretBytes(copying: block)
    let zeros = [UInt8](repeating: 0, count: 64 << 10)
    var left = rounds
    while left > 0 {
        let taken = Int(min(left, UInt64(zeros.count / blockCount)))
        let encrypted = try process(
            zeros.span.extracting(..<(taken * blockCount)), with: stream, isLast: false)
        last = encrypted.withBytes { SecretBytes(copying: $0.extracting(last: blockCount)) }
        left -= UInt64(taken)
    }
    return last
}

private let blockCount = 16

/// Passes all of `bytes` through `stream`.
private func process(
    _ bytes: Span<UInt8>, with stream: borrowing CipherStream, isLast: Bool = true
) throws(CryptographyError) -> SecretBytes {
    try SecretBytes(capacity: bytes.count + blockCount) { output throws(CryptographyError) in
        try unsafe output.withUnsafeMutableBufferPointer {
            buffer, count throws(CryptographyError) in
            guard let start = buffer.baseAddress,
                let written = unsafe stream.update(bytes, into: start),
                let rest = isLast ? unsafe stream.finish(into: start + written) : 0
            else {
                ERR_clear_error()
                throw .wrongKey
            }
            count = written + rest
        }
    }
}

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
    /// one block more than `bytes`; `nil` if OpenSSL refuses them.
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
