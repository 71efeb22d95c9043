/// An answer that was given and is given again when the same request comes again.
public struct AnswerRow: Hashable, Sendable {
    /// The primary key: a digest of who asked and of the key that came with the request; 32 bytes.
    public let key: [UInt8]
    /// A digest of the request, by which another request under the same key is noticed.
    public let request: [UInt8]
    /// The key version that seals ``sealedAnswer``.
    public let keyID: KeyID
    /// The answer, under 64 KiB; sealed, because it may hold secrets that are shown once.
    public let sealedAnswer: [UInt8]
    /// From when on it may be pruned; until it is, it is valid.
    public let expiresAt: UnixTime

    /// Puts a row together, as a store does that has read one.
    public init(
        key: [UInt8], request: [UInt8], keyID: KeyID, sealedAnswer: [UInt8], expiresAt: UnixTime
    ) {
        self.key = key
        self.request = request
        self.keyID = keyID
        self.sealedAnswer = sealedAnswer
        self.expiresAt = expiresAt
    }
}
