internal import COpenSSL

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
    ) throws(DecryptionError) {
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
