internal import COpenSSL

/// Authenticated encryption with AES-256-GCM (NIST SP 800-38D) and a fresh random nonce per box.
///
/// A box consists of the nonce (12 bytes), the ciphertext and the tag (16 bytes). Do not seal more
/// than 2^32 boxes with one key, the standard's limit for random nonces. A box does not hide the
/// length of its content. It opens only with the associated data that it was sealed with.
public struct SealingKey: Sendable {
    /// The length of a key in bytes.
    public static let keyCount = 32
    /// The number of bytes by which a box is longer than its content.
    public static let overhead = nonceCount + tagCount
    private static let nonceCount = 12
    private static let tagCount = 16

    private let key: SecretBytes

    /// Uses a 32-byte key, which must come from ``Randomness``, HKDF or scrypt.
    public init(_ key: SecretBytes) {
        precondition(key.count == Self.keyCount, "a key has 32 bytes")
        self.key = key
    }

    /// Seals a secret.
    public func seal(_ plaintext: SecretBytes, associatedData: Span<UInt8>) -> [UInt8] {
        plaintext.withBytes { plaintext in
            seal(plaintext, associatedData: associatedData)
        }
    }

    /// Seals the bytes that `plaintext` refers to.
    public func seal(_ plaintext: Span<UInt8>, associatedData: Span<UInt8>) -> [UInt8] {
        let nonce = Randomness.bytes(count: Self.nonceCount)
        return seal(plaintext, associatedData: associatedData, nonce: nonce)
    }

    /// Seals with a given nonce, for test vectors.
    ///
    /// A nonce must never be used twice with one key.
    func seal(_ plaintext: Span<UInt8>, associatedData: Span<UInt8>, nonce: [UInt8]) -> [UInt8] {
        precondition(nonce.count == Self.nonceCount, "a nonce has 12 bytes")
        let context = CipherContext()
        var box = nonce + [UInt8](repeating: 0, count: plaintext.count + Self.tagCount)
        let isSealed = key.withBytes { key in
            var output = box.mutableSpan
            return context.seal(
                key: key, associatedData: associatedData, plaintext: plaintext, box: &output)
        }
        require(isSealed, .seal)
        return box
    }

    /// Opens a box.
    ///
    /// - Throws: ``CryptographyError/notAuthentic`` if this key did not seal the box with this
    ///   associated data, whatever the reason.
    public func open(
        _ box: Span<UInt8>, associatedData: Span<UInt8>
    ) throws(CryptographyError) -> SecretBytes {
        guard box.count >= Self.overhead else { throw .ciphertextLength }
        return try open(
            box.extracting(Self.nonceCount...), nonce: box.extracting(..<Self.nonceCount),
            associatedData: associatedData)
    }

    /// Opens a ciphertext followed by its tag, as other programs store it.
    ///
    /// - Parameter nonce: The nonce, of any length but zero.
    /// - Throws: ``CryptographyError/notAuthentic`` if this key did not seal it with this nonce and
    ///   associated data, whatever the reason.
    public func open(
        _ sealed: Span<UInt8>, nonce: Span<UInt8>, associatedData: Span<UInt8>
    ) throws(CryptographyError) -> SecretBytes {
        guard sealed.count >= Self.tagCount else { throw .ciphertextLength }
        let context = CipherContext()
        let count = sealed.count - Self.tagCount
        return try unsafe SecretBytes(count: count) { output throws(CryptographyError) in
            let isOpen = key.withBytes { key in
                unsafe context.open(
                    key: key, nonce: nonce, associatedData: associatedData,
                    ciphertext: sealed.extracting(..<count), tag: sealed.extracting(count...),
                    plaintext: output)
            }
            guard isOpen else { throw .notAuthentic }
        }
    }
}
