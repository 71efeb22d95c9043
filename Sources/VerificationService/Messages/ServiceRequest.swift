package import Cryptography

/// A request as it came in, before anything of it is believed.
package struct ServiceRequest: Sendable {
    /// The method, as it was sent.
    package let method: String
    /// The request target in origin form, as it was sent: still percent-encoded, with its query (RFC
    /// 9112, section 3.2.1).
    package let target: String
    /// The header fields without `Authorization`, in their order.
    package let headers: [HTTPField]
    /// What each `Authorization` field says: one, unless somebody cheats.
    package let authorizations: [SecretBytes]
    /// The content, which carries codes and secrets; at most ``maximalBodyCount`` bytes.
    package let body: SecretBytes
    /// The numeric address of who is at the other end of the connection; empty when there is none.
    package let peer: String

    /// The most bytes of a body; longer ones are refused with ``tooLarge()`` before they are read.
    package static let maximalBodyCount = 64 << 10

    /// Takes what came over the connection.
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

    /// The values of the fields of this name, in lower case.
    func values(of name: String) -> [String] {
        headers.filter { $0.name.isEqualIgnoringCase(name) }.map(\.value)
    }

    /// The value of a field that may come once.
    ///
    /// - Throws: ``Problem/malformedHeader(_:)`` when it comes twice.
    func value(of name: String) throws(Problem) -> String? {
        let values = values(of: name)
        guard values.count <= 1 else { throw .malformedHeader(name) }
        return values.first
    }
}

/// A header field.
package struct HTTPField: Hashable, Sendable {
    /// Its name; upper and lower case are the same.
    package let name: String
    /// Its value, without white space around it.
    package let value: String

    /// Takes both.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension String {
    /// Whether both are the same but for the case of ASCII letters.
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
