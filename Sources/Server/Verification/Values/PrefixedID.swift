internal import WatchwordCryptography

/// An identifier: 16 random bytes, which reveal nothing and are not secret.
///
/// Its text form is a prefix for the kind of object, followed by base64url (RFC 4648, section 5).
public struct PrefixedID<Named: PrefixedName>: Hashable, Comparable, Sendable {
    /// The 16 bytes of the identifier.
    public let bytes: [UInt8]

    /// The number of bytes in an identifier.
    @inlinable public static var count: Int { 16 }

    /// Accepts exactly 16 bytes, and returns `nil` for any other number.
    @inlinable public init?(bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    /// Parses the canonical text form.
    public init?(text: String) {
        let utf8 = Array(text.utf8)
        guard utf8.starts(with: Named.prefix.utf8) else { return nil }
        let rest = Array(utf8.dropFirst(Named.prefix.utf8.count))
        do throws(CryptographyError) { self.init(bytes: try Base64URL.decode(rest.span)) } catch {
            return nil
        }
    }

    /// The text form: the prefix, followed by base64url.
    public var text: String { Named.prefix + Base64URL.encode(bytes.span) }

    /// A random identifier that no row has, for a dummy lookup at a random position.
    public static func anywhere() -> PrefixedID {
        let words = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)]
        let bytes = words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        guard let made = PrefixedID(bytes: bytes) else {
            preconditionFailure("two words are 16 bytes")
        }
        return made
    }

    /// Compares the bytes, as a database does.
    public static func < (left: PrefixedID, right: PrefixedID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// The kind of object that an identifier belongs to, so that identifiers of different kinds cannot
/// be confused.
public protocol PrefixedName: Sendable {
    /// The prefix of its identifiers' text form.
    static var prefix: String { get }
}

/// The identifier of a credential: `cr_…` as text.
public typealias CredentialID = PrefixedID<CredentialName>

/// The kind *credential*.
public enum CredentialName: PrefixedName {
    /// The prefix, an abbreviation of *credential*.
    public static var prefix: String { "cr_" }
}

/// The identifier of a decision, which relates log entries, responses and events: `vf_…` as text.
public typealias VerificationID = PrefixedID<VerificationName>

/// The kind *decision*.
public enum VerificationName: PrefixedName {
    /// The prefix, an abbreviation of *verification*.
    public static var prefix: String { "vf_" }
}

/// The identifier of an application: `cl_…` as text.
public typealias ClientID = PrefixedID<ClientName>

/// The kind *application*.
public enum ClientName: PrefixedName {
    /// The prefix, an abbreviation of *client*.
    public static var prefix: String { "cl_" }
}
