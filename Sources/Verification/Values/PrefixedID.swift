internal import Cryptography

/// What something is called: 16 random bytes, which tell nothing and are no secret.
///
/// As text it is a prefix that says what it names, and base64url (RFC 4648, section 5).
public struct PrefixedID<Named: PrefixedName>: Hashable, Comparable, Sendable {
    /// 16 bytes, always.
    public let bytes: [UInt8]

    /// How many bytes there are.
    @inlinable public static var count: Int { 16 }

    /// Takes exactly 16 bytes; nothing for any other number.
    @inlinable public init?(bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    /// Reads the text form, which each identifier has one of.
    public init?(text: String) {
        let utf8 = Array(text.utf8)
        guard utf8.starts(with: Named.prefix.utf8) else { return nil }
        let rest = Array(utf8.dropFirst(Named.prefix.utf8.count))
        do throws(Base64Error) { self.init(bytes: try Base64URL.decode(rest.span)) } catch {
            return nil
        }
    }

    /// The text form.
    public var text: String { Named.prefix + Base64URL.encode(bytes.span) }

    /// One by chance, which names nothing: a place among the others to look at.
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

    /// Orders by the bytes, as a database does.
    public static func < (left: PrefixedID, right: PrefixedID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// A kind of thing that has identifiers of its own, which are nothing to another kind.
public protocol PrefixedName: Sendable {
    /// What each of its identifiers begins with as text.
    static var prefix: String { get }
}

/// What a credential is called: `cr_…` as text.
public typealias CredentialID = PrefixedID<CredentialName>

/// Names credentials.
public enum CredentialName: PrefixedName {
    /// Of the word *credential*.
    public static var prefix: String { "cr_" }
}

/// What one decision is called, so that a log, an application and an event mean the same one: `vf_…` as
/// text.
public typealias VerificationID = PrefixedID<VerificationName>

/// Names decisions.
public enum VerificationName: PrefixedName {
    /// Of the word *verification*.
    public static var prefix: String { "vf_" }
}

/// What an application that may ask is called: `cl_…` as text.
public typealias ClientID = PrefixedID<ClientName>

/// Names applications.
public enum ClientName: PrefixedName {
    /// Of the word *client*.
    public static var prefix: String { "cl_" }
}
