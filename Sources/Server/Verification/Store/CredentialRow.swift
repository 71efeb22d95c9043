/// A credential as stored.
///
/// A store interprets the columns but never ``body``. A row contains no secret in the clear: seeds
/// are sealed under a key that is kept outside the database, and digests are keyed with such a key.
public struct CredentialRow: Hashable, Sendable {
    /// The primary key: 16 random bytes.
    public package(set) var id: CredentialID
    /// The owner of the credential; indexed.
    public package(set) var subject: Subject
    /// The kind of authenticator that the credential represents.
    public package(set) var kind: CredentialKind
    /// The state in the credential's life cycle.
    public package(set) var state: CredentialState
    /// The version: 1 when the row is inserted; each update adds one.
    ///
    /// The number has at most 63 bits.
    public package(set) var version: UInt64
    /// The key version that seals ``body``'s seed or keys its digests; `nil` after both were
    /// deleted.
    public package(set) var keyID: KeyID?
    /// A blind index of a value that may exist only once: 32 bytes, unique in the table if present.
    ///
    /// The index of a seed (RFC 6238, section 3, R5) stays when a credential ends, so that a used
    /// seed is never accepted again. The index of a subject's set of recovery codes is deleted with
    /// the set.
    public package(set) var fingerprint: [UInt8]?
    /// The time of creation; a subject's rows are listed in this order.
    public package(set) var createdAt: UnixTime
    /// The time from which a pending row, or an ended row that proves nothing, may be pruned; `nil`
    /// for other rows.
    public package(set) var lapsesAt: UnixTime?
    /// All other data, in Verification's own versioned encoding; less than 64 KiB.
    public package(set) var body: [UInt8]

    /// Takes the stored columns, without any check.
    public init(
        id: CredentialID, subject: Subject, kind: CredentialKind, state: CredentialState,
        version: UInt64, keyID: KeyID?, fingerprint: [UInt8]?, createdAt: UnixTime,
        lapsesAt: UnixTime?, body: [UInt8]
    ) {
        self.id = id
        self.subject = subject
        self.kind = kind
        self.state = state
        self.version = version
        self.keyID = keyID
        self.fingerprint = fingerprint
        self.createdAt = createdAt
        self.lapsesAt = lapsesAt
        self.body = body
    }
}

extension CredentialRow: ColumnRow {
    /// The name of the table of credentials.
    public static let table = "credentials"

    package static let columns: [Column<CredentialRow>] = [
        Column("id") { $0.id },
        Column("subject") { $0.subject },
        Column("kind") { $0.kind },
        Column("state") { $0.state },
        Column("version") { $0.version },
        Column("key_id") { $0.keyID },
        Column("fingerprint") { $0.fingerprint },
        Column("created_at") { $0.createdAt },
        Column("lapses_at") { $0.lapsesAt },
        Column("body") { $0.body },
    ]

    package init(reading row: inout RowReader) throws(StoreFailure) {
        self.init(
            id: try row.read(), subject: try row.read(), kind: try row.read(),
            state: try row.read(), version: try row.read(), keyID: try row.read(),
            fingerprint: try row.read(), createdAt: try row.read(), lapsesAt: try row.read(),
            body: try row.read())
    }

    /// The primary key as stored bytes.
    public var primaryKey: [UInt8] { id.bytes }
}
