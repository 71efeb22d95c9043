/// An application that may ask, as a store keeps it: its API key by the digest alone.
public struct ClientRow: Hashable, Sendable {
    /// The primary key: 16 random bytes.
    public let id: [UInt8]
    /// 1 when it is inserted, one more at each update.
    public let version: UInt64
    /// The keyed digest of its API key: 32 bytes, unique.
    public let digest: [UInt8]
    /// What people call it; of the clients that are not revoked, one has a name.
    public let name: String
    /// What it may do, in words that the service gives a meaning, sorted.
    public let scopes: [String]
    /// When it was added.
    public let createdAt: UnixTime
    /// When it was revoked; nothing while it may ask.
    public let revokedAt: UnixTime?

    /// Bytes of a name at most.
    public static let maximalNameCount = OneTimePasswordEnrolment.maximalTextCount

    /// Puts a row together, as a store does that has read one.
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
