package import Cryptography

/// An answer, ready to be sent as it stands; `Content-Length` and `Date` are the listener's.
package struct ServiceResponse: Sendable {
    /// The status code (RFC 9110, section 15).
    package let status: Int
    /// The header fields, in the order to send them.
    package let headers: [HTTPField]
    /// The content, which may carry secrets that are shown once.
    package let body: SecretBytes

    /// Puts an answer together.
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
