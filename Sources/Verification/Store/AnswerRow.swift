/// An answer that was given and is given again when the same request comes again.
public struct AnswerRow: Hashable, Sendable {
    /// The primary key: a digest of who asked and of the key that came with the request; 32 bytes.
    public let key: [UInt8]
    /// A digest of the request, by which another request under the same key is noticed.
    public let request: [UInt8]
    /// The credential whose secrets the answer holds, with which it ends; `nil` if it holds none; indexed.
    public let credential: CredentialID?
    /// The answer; `nil` once it ended (``StoreChange/endAnswers(of:)``).
    public let sealed: Sealed?
    /// From when on it may be pruned; until it is, it is valid.
    public let expiresAt: UnixTime

    /// An answer, sealed, because it may hold secrets that are shown once.
    public struct Sealed: Hashable, Sendable {
        /// The key version that seals it.
        public let keyID: KeyID
        /// The sealed bytes, under 64 KiB.
        public let bytes: [UInt8]

        /// Takes what was sealed.
        public init(_ bytes: [UInt8], under keyID: KeyID) {
            self.keyID = keyID
            self.bytes = bytes
        }
    }

    /// The row once its answer ended.
    public var ended: AnswerRow {
        AnswerRow(
            key: key, request: request, credential: credential, sealed: nil, expiresAt: expiresAt)
    }

    /// Puts a row together, as a store does that has read one.
    public init(
        key: [UInt8], request: [UInt8], credential: CredentialID?, sealed: Sealed?,
        expiresAt: UnixTime
    ) {
        self.key = key
        self.request = request
        self.credential = credential
        self.sealed = sealed
        self.expiresAt = expiresAt
    }
}
