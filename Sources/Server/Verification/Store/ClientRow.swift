/// The stored record of an application that may send requests.
///
/// Only a digest of its API key is stored, never the key.
public struct ClientRow: Hashable, Sendable {
    /// The primary key: 16 random bytes.
    public let id: [UInt8]
    /// 1 when it is inserted; each update adds one.
    public let version: UInt64
    /// The keyed digest of its API key: 32 bytes, unique.
    public let digest: [UInt8]
    /// A human-readable name.
    ///
    /// No two active clients have the same name.
    public let name: String
    /// The scopes of its API key, sorted.
    ///
    /// The service defines their meaning.
    public let scopes: [String]
    /// When it was added.
    public let createdAt: UnixTime
    /// When it was revoked; `nil` while it is active.
    public let revokedAt: UnixTime?
    /// The subjects that it is limited to; `nil` if it is not.
    ///
    /// This never changes, so a recorded response never exceeds the limit.
    public let subjects: SubjectPrefix?

    /// The maximum length of a name in bytes.
    public static let maximumNameCount = OneTimePasswordEnrolment.maximumTextCount

    /// Creates a row from its stored columns.
    public init(
        id: [UInt8], version: UInt64, digest: [UInt8], name: String, scopes: [String],
        createdAt: UnixTime, revokedAt: UnixTime?, subjects: SubjectPrefix? = nil
    ) {
        self.id = id
        self.version = version
        self.digest = digest
        self.name = name
        self.scopes = scopes
        self.createdAt = createdAt
        self.revokedAt = revokedAt
        self.subjects = subjects
    }
}

extension ClientRow: ColumnRow {
    /// The name of its table.
    public static let table = "clients"

    package static let columns: [Column<ClientRow>] = [
        Column("id") { $0.id },
        Column("version") { $0.version },
        Column("digest") { $0.digest },
        Column("name") { $0.name },
        Column("scopes") { TextList($0.scopes) },
        Column("created_at") { $0.createdAt },
        Column("revoked_at") { $0.revokedAt },
        Column("subjects", since: 3) { $0.subjects },
    ]

    package init(reading row: inout RowReader) throws(StoreFailure) {
        self.init(
            id: try row.read(), version: try row.read(), digest: try row.read(),
            name: try row.read(), scopes: (try row.read() as TextList).texts,
            createdAt: try row.read(), revokedAt: try row.read(), subjects: try row.read())
    }

    /// Its primary key.
    public var primaryKey: [UInt8] { id }
}
