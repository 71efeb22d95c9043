/// The stored record of an application that may send requests.
///
/// Only a digest of its API key is stored, never the key.
public struct ClientRow: Hashable, Sendable {
    /// The primary key: 16 random bytes.
    public let id: [UInt8]
    /// The version: 1 when the row is inserted; each update adds one.
    public let version: UInt64
    /// The keyed digest of the API key: 32 bytes, unique.
    public let digest: [UInt8]
    /// A human-readable name.
    ///
    /// No two active clients have the same name.
    public let name: String
    /// The scopes of the API key, sorted.
    ///
    /// The service defines the meaning of the scopes.
    public let scopes: [String]
    /// The time at which the application was added.
    public let createdAt: UnixTime
    /// The time of the revocation; `nil` while the application is active.
    public let revokedAt: UnixTime?
    /// The subjects to which the application is limited; `nil` if there is no limit.
    ///
    /// The limit never changes, so a recorded response never exceeds it.
    public let subjects: SubjectPrefix?

    /// The maximum length of a name in bytes.
    public static let maximumNameCount = OneTimePasswordEnrolment.maximumTextCount

    /// Takes the stored columns, without any check.
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
    /// The name of the table of clients.
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

    /// The primary key as stored bytes.
    public var primaryKey: [UInt8] { id }
}
