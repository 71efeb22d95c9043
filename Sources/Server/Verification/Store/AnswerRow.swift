/// A recorded response, which is returned again if the same request is repeated.
public struct AnswerRow: Hashable, Sendable {
    /// The primary key: a digest of the sender and of the request's idempotency key; 32 bytes.
    public let key: [UInt8]
    /// A digest of the request, to detect another request under the same key.
    public let request: [UInt8]
    /// The credential whose secrets the response contains; `nil` if it contains none.
    ///
    /// When the credential ends, the response is deleted.
    ///
    /// Indexed.
    public let credential: CredentialID?
    /// The sealed response; `nil` once it has been deleted (``StoreChange/endAnswers(of:)``).
    public let sealed: Sealed?
    /// The time from which it may be pruned.
    ///
    /// Until it is pruned, it is valid.
    public let expiresAt: UnixTime

    /// A response, sealed because it may contain secrets that are shown only once.
    public struct Sealed: Hashable, Sendable {
        /// The key version that seals it.
        public let keyID: KeyID
        /// The sealed bytes, under 64 KiB.
        public let bytes: [UInt8]

        /// Creates the value from sealed bytes.
        public init(_ bytes: [UInt8], under keyID: KeyID) {
            self.keyID = keyID
            self.bytes = bytes
        }
    }

    /// The row after its response has been deleted.
    public var ended: AnswerRow {
        AnswerRow(
            key: key, request: request, credential: credential, sealed: nil, expiresAt: expiresAt)
    }

    /// Creates a row from its stored columns.
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
