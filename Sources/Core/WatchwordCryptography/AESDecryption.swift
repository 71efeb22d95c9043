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
