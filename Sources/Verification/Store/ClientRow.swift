/// An application that may send requests, as stored: only the digest of its API key.
public struct ClientRow: Hashable, Sendable {
    /// The primary key: 16 random bytes.
    public let id: [UInt8]
    /// 1 when it is inserted; each update adds one.
    public let version: UInt64
    /// The keyed digest of its API key: 32 bytes, unique.
    public let digest: [UInt8]
    /// A name for people.
    ///
    /// No two clients that are not revoked have the same name.
    public let name: String
    /// The scopes of its API key, sorted.
    ///
    /// The service defines their meaning.
    public let scopes: [String]
    /// When it was added.
    public let createdAt: UnixTime
    /// When it was revoked; `nil` while it is active.
    public let revokedAt: UnixTime?

    /// The maximum length of a name in bytes.
    public static let maximalNameCount = OneTimePasswordEnrolment.maximalTextCount

    /// Creates a row from its stored columns.
    public init(
        id: [UInt8], version: UInt64, digest: [UInt8], name: String, scopes: [String],
        createdAt: UnixTime, revokedAt: UnixTime?
    ) {
        self.id = id
        self.version = version
        self.digest = digest
        self.name = name
        self.scopes = scopes
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}
