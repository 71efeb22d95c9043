package import Cryptography

/// A response, complete except for `Content-Length` and `Date`, which the listener adds.
package struct ServiceResponse: Sendable {
    /// The status code (RFC 9110, section 15).
    package let status: Int
    /// The header fields, in the order in which they are sent.
    package let headers: [HTTPField]
    /// The content, which may contain secrets that are shown only once.
    package let body: SecretBytes

    package init(status: Int, headers: [HTTPField], body: SecretBytes) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first field of this name.
    package func value(of name: String) -> String? {
        headers.first { $0.name.isEqualIgnoringCase(name) }?.value
    }
}
