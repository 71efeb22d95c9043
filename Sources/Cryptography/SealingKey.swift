internal import COpenSSL

/// A key that seals boxes: AES-256-GCM (NIST SP 800-38D) with a fresh random nonce for each.
///
/// A box is nonce (12 bytes), ciphertext, tag (16 bytes). One key should not seal more than 2^32
/// boxes, the standard's limit for random nonces. A box hides its content and not its length; it
/// opens only with the associated data that it was sealed with.
public struct SealingKey: Sendable {
    /// How many bytes a key has.
    public static let keyCount = 32
    /// By how many bytes a box is longer than its content.
    public static let overhead = nonceCount + tagCount
    private static let nonceCount = 12
    private static let tagCount = 16

    private let key: SecretBytes

    /// Takes a key of 32 bytes, which must come from ``Randomness``, HKDF or scrypt.
    public init(_ key: SecretBytes) throws(SealedBoxError) {
        guard key.count == Self.keyCount else { throw .keyLength }
        self.key = key
    }

    /// Seals a secret.
    public func seal(
        _ plaintext: SecretBytes, associatedData: Span<UInt8>
    ) throws(CryptographyFailure) -> [UInt8] {
        try plaintext.withBytes { plaintext throws(CryptographyFailure) in
            try seal(plaintext, associatedData: associatedData)
        }
    }

    /// Seals what `plaintext` lends.
    public func seal(
        _ plaintext: Span<UInt8>, associatedData: Span<UInt8>
    ) throws(CryptographyFailure) -> [UInt8] {
        let nonce = try Randomness.bytes(count: Self.nonceCount)
        return try seal(plaintext, associatedData: associatedData, nonce: nonce)
    }

    /// Seals with the nonce of a published vector; a nonce must never serve a key twice.
    func seal(
        _ plaintext: Span<UInt8>, associatedData: Span<UInt8>, nonce: [UInt8]
    ) throws(CryptographyFailure) -> [UInt8] {
        precondition(nonce.count == Self.nonceCount, "a nonce has 12 bytes")
        let context = try CipherContext(.seal)
        var box = nonce + [UInt8](repeating: 0, count: plaintext.count + Self.tagCount)
        let isSealed = key.withBytes { key in
            var output = box.mutableSpan
            return context.seal(
                key: key, associatedData: associatedData, plaintext: plaintext, box: &output)
        }
        guard isSealed else { throw CryptographyFailure(.seal) }
        return box
    }

    /// Opens a box.
    ///
    /// - Throws: ``SealedBoxError/notAuthentic`` for a box that this key did not seal with this
    ///   associated data, whatever the reason.
    public func open(
        _ box: Span<UInt8>, associatedData: Span<UInt8>
    ) throws(SealedBoxError) -> SecretBytes {
        guard box.count >= Self.overhead else { throw .tooShort }
        let context = try Self.openingContext()
        return try unsafe SecretBytes(count: box.count - Self.overhead) {
            output throws(SealedBoxError) in
            let isOpen = key.withBytes { key in
                unsafe context.open(
                    key: key, associatedData: associatedData, box: box, plaintext: output)
            }
            guard isOpen else { throw .notAuthentic }
        }
    }

    private static func openingContext() throws(SealedBoxError) -> CipherContext {
        do { return try CipherContext(.open) } catch { throw .failed(error) }
    }
}

/// Why a box does not open, or a key is none.
public enum SealedBoxError: Error, Hashable, Sendable {
    /// A sealing key has 32 bytes.
    case keyLength
    /// The box is shorter than an empty one.
    case tooShort
    /// Another key, other associated data, or a changed box: these cannot be told apart.
    case notAuthentic
    /// OpenSSL could not do its work.
    case failed(CryptographyFailure)
}
