/// A recorded response, which is returned again if the same request is repeated.
public struct AnswerRow: Hashable, Sendable {
    /// The primary key: a digest of the sender and of the request's idempotency key; 32 bytes.
    public let key: [UInt8]
    /// A digest of the request, which detects a different request under the same key.
    public let request: [UInt8]
    /// The credential whose secrets the response contains; `nil` if the response contains none.
    ///
    /// When the credential ends, the response is deleted. The column is indexed.
    public let credential: CredentialID?
    /// The sealed response; `nil` once it has been deleted (``StoreChange/endAnswers(of:)``).
    public let sealed: Sealed?
    /// The time from which the response may be pruned.
    ///
    /// The response is valid until it is pruned.
    public let expiresAt: UnixTime

    /// A response, sealed because it may contain secrets that are shown only once.
    public struct Sealed: Hashable, Sendable {
        /// The key version under which the response is sealed.
        public let keyID: KeyID
        /// The sealed bytes, under 64 KiB.
        public let bytes: [UInt8]

        /// Takes bytes that were sealed under this key version.
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

    /// Takes the stored columns, without any check.
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

extension AnswerRow: ColumnRow {
    /// The name of the table of responses.
    public static let table = "answers"

    package static let columns: [Column<AnswerRow>] = [
        Column("key") { $0.key },
        Column("request") { $0.request },
        Column("credential") { $0.credential },
        Column("key_id") { $0.sealed?.keyID },
        .besidePrevious("sealed_answer") { $0.sealed?.bytes },
        Column("expires_at") { $0.expiresAt },
    ]

    package init(reading row: inout RowReader) throws(StoreFailure) {
        let (key, request): ([UInt8], [UInt8]) = (try row.read(), try row.read())
        let credential: CredentialID? = try row.read()
        let sealed: Sealed?
        switch (try row.read() as KeyID?, try row.read() as [UInt8]?) {
        case (let keyID?, let bytes?): sealed = Sealed(bytes, under: keyID)
        case (nil, nil): sealed = nil
        default: throw row.invalidRow
        }
        self.init(
            key: key, request: request, credential: credential, sealed: sealed,
            expiresAt: try row.read())
    }

    /// The primary key as stored bytes.
    public var primaryKey: [UInt8] { key }

    /// The row without its sealed bytes.
    public var authenticatedBytesOnceEnded: [UInt8]? {
        sealed == nil ? nil : ended.authenticatedBytes
    }
}
