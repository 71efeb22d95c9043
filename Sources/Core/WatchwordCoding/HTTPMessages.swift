public import WatchwordCryptography

/// A complete request that is well-formed HTTP; nothing else about it has been validated.
public struct HTTPRequest: Sendable {
    /// The method as sent, such as `POST`.
    public let method: String
    /// The request target in origin form, as sent: percent-encoded, including the query (RFC 9112,
    /// section 3.2.1); or `*`.
    public let target: String
    /// The header fields except `Authorization`, in their original order.
    public let headers: [HTTPField]
    /// The value of `Authorization`.
    ///
    /// A request with several such fields is refused as malformed.
    public let authorization: SecretBytes?
    /// The body, which may contain codes and secrets.
    public let body: SecretBytes
    /// The numeric address of the peer; empty if there is none.
    public let peer: String

    /// Combines the parts of a request without validating them.
    public init(
        method: String, target: String, headers: [HTTPField] = [],
        authorization: SecretBytes? = nil, body: SecretBytes, peer: String
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.authorization = authorization
        self.body = body
        self.peer = peer
    }
}

/// A header field (RFC 9110, section 5).
public struct HTTPField: Hashable, Sendable {
    /// The name, which is case-insensitive.
    public let name: String
    /// The value without surrounding white space.
    public let value: String

    /// Combines a name and a value without validating them.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPField] {
    /// The values of all fields with this name, ignoring case.
    public func values(of name: String) -> [String] {
        filter { $0.name.isEqualIgnoringCase(name) }.map(\.value)
    }
}

extension String {
    /// Whether the strings are equal if the case of ASCII letters is ignored.
    public func isEqualIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

/// Why a request is refused before it is interpreted.
public enum HTTPRequestError: Error, CaseIterable, Hashable, Sendable {
    /// The request is malformed or ambiguous HTTP: 400.
    case malformed
    /// A chunked body, whose length is unknown in advance: 411.
    case lengthRequired
    /// The body exceeds the limit: 413.
    case bodyTooLarge
    /// An expectation other than `100-continue`: 417.
    case unknownExpectation
    /// The header fields exceed the limit: 431.
    case headersTooLarge
    /// A transfer coding other than `chunked`: 501.
    case unknownTransferCoding
    /// The HTTP library has already refused the request and closed the connection without a
    /// response; the case is for logs and metrics.
    case refusedByLibrary
}

/// A response, complete except for `Content-Length`, `Connection` and `Date`.
public struct HTTPResponse: Sendable {
    /// The status code (RFC 9110, section 15).
    public let status: Int
    /// The header fields, in the order in which they are sent.
    public let headers: [HTTPField]
    /// The body, which may contain secrets that are shown only once.
    public let body: SecretBytes

    /// Whether the request proved that an application sent it; the listener then keeps room for
    /// connections from the application's address.
    public let isAuthenticated: Bool

    /// Combines the parts of a response without validating them.
    public init(
        status: Int, headers: [HTTPField] = [], body: SecretBytes, isAuthenticated: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isAuthenticated = isAuthenticated
    }

    /// Combines the parts of a response whose body is not secret.
    public init(status: Int, headers: [HTTPField] = [], text: String = "") {
        let bytes = Array(text.utf8)
        self.init(status: status, headers: headers, body: SecretBytes(copying: bytes.span))
    }

    /// The value of the first field with this name.
    public func value(of name: String) -> String? { headers.values(of: name).first }
}
