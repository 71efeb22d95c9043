package import Cryptography

/// A request as received, before validation.
package struct ServiceRequest: Sendable {
    /// The method as sent.
    package let method: String
    /// The request target in origin form, as sent: percent-encoded, including the query (RFC 9112,
    /// section 3.2.1).
    package let target: String
    /// The header fields except `Authorization`, in their original order.
    package let headers: [HTTPField]
    /// The values of the `Authorization` fields.
    ///
    /// A valid request has at most one.
    package let authorizations: [SecretBytes]
    /// The content, which may contain codes and secrets; at most ``maximalBodyCount`` bytes.
    package let body: SecretBytes
    /// The numeric address of the peer; empty if there is none.
    package let peer: String

    /// The maximum size of a body.
    ///
    /// The listener rejects longer bodies before it reads them.
    package static let maximalBodyCount = 64 << 10

    package init(
        method: String, target: String, headers: [HTTPField] = [],
        authorizations: [SecretBytes] = [], body: SecretBytes, peer: String
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.authorizations = authorizations
        self.body = body
        self.peer = peer
    }

    /// The values of all fields with this name, compared without case.
    func values(of name: String) -> [String] {
        headers.filter { $0.name.isEqualIgnoringCase(name) }.map(\.value)
    }

    /// The value of a field that may occur at most once.
    ///
    /// - Throws: ``Problem/malformedHeader(_:)`` if it occurs twice.
    func value(of name: String) throws(Problem) -> String? {
        let values = values(of: name)
        guard values.count <= 1 else { throw .malformedHeader(name) }
        return values.first
    }
}

/// A header field.
package struct HTTPField: Hashable, Sendable {
    /// The name, compared without case.
    package let name: String
    /// The value without surrounding white space.
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension String {
    /// Whether the strings are equal, ignoring the case of ASCII letters.
    func isEqualIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
