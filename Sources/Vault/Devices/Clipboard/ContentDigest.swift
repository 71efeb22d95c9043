import WatchwordCryptography

/// Recognises the clipboard's content without holding it.
///
/// The key is random, so that equal codes have different digests. A program that can read this
/// process's memory can still find the code from the key and the digest, because codes are short.
struct ContentDigest {
    static let keyCount = 32
    static let count = 32

    let key: SecretBytes
    let bytes: [UInt8]

    /// The digest of `content`.
    static func of(_ content: Span<UInt8>) -> ContentDigest {
        let key = Randomness.secret(count: keyCount)
        return ContentDigest(key: key, bytes: hmac(.sha256, key: key, message: content))
    }

    /// Whether the digest was computed from `content`.
    func matches(_ content: Span<UInt8>) -> Bool {
        let other = hmac(.sha256, key: key, message: content)
        return isEqualInConstantTime(other.span, bytes.span)
    }
}
