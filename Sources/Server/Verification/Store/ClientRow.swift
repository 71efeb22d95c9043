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

    /// The maximum length of a name in bytes.
    public static let maximumNameCount = OneTimePasswordEnrolment.maximumTextCount

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

/// The encoding of several texts in one column: each text is preceded by its length in bytes.
package enum TextList {
    /// Encodes the texts.
    package static func bytes(_ texts: [String]) -> [UInt8] {
        texts.flatMap { text in
            let count = UInt32(text.utf8.count)
            return (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + text.utf8
        }
    }

    /// Decodes the result of ``bytes(_:)``; `nil` if the bytes are malformed.
    package static func read(_ bytes: [UInt8]) -> [String]? {
        var texts: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count,
                let text = String(validating: rest.prefix(count), as: UTF8.self)
            else { return nil }
            texts.append(text)
            rest = rest.dropFirst(count)
        }
        return texts
    }
}
