public import Cryptography

/// A header field; in a request its name is in lower case.
public struct ListenerHeader: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value, without white space around it.
    public let value: String

    /// Takes both.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request as it came over the socket: whole, well formed, and within the limits.
public struct ListenerRequest: Sendable {
    /// The method, such as `POST`.
    public let method: String
    /// The path and the query as they were sent, percent-encoding and all; or `*`.
    public let target: String
    /// The header fields but `Authorization`, in their order; those that may come more than once are joined.
    public let headers: [ListenerHeader]
    /// What `Authorization` says.
    public let authorization: SecretBytes?
    /// The body, which may hold secrets of the caller.
    public let body: SecretBytes
    /// The numeric address of whoever opened the connection.
    public let peer: String

    /// Puts a request together.
    public init(
        method: String, target: String, headers: [ListenerHeader],
        authorization: SecretBytes?, body: SecretBytes, peer: String
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.authorization = authorization
        self.body = body
        self.peer = peer
    }
}

/// What is answered.
public struct ListenerResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The header fields, without `Content-Length` and `Connection`.
    public let headers: [ListenerHeader]
    /// The body, which may hold secrets that are shown once.
    public let body: SecretBytes

    /// Puts an answer together.
    public init(status: Int, headers: [ListenerHeader] = [], body: SecretBytes) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Puts an answer together that is no secret.
    public init(status: Int, headers: [ListenerHeader] = [], text: String = "") {
        let bytes = Array(text.utf8)
        self.init(status: status, headers: headers, body: SecretBytes(copying: bytes.span))
    }
}

/// What the listener refuses by itself, before anybody behind it sees the request.
public enum ListenerRefusal: Error, CaseIterable, Hashable, Sendable {
    /// No HTTP that all understand alike: 400.
    case malformed
    /// A body in chunks, whose length is not known before its end: 411.
    case lengthRequired
    /// A body over the limit: 413.
    case bodyTooLarge
    /// An expectation other than `100-continue`: 417.
    case unknownExpectation
    /// Headers over the limit: 431.
    case headersTooLarge
    /// A transfer coding other than `chunked`: 501.
    case unknownTransferCoding
    /// What libmicrohttpd's parser refuses behind a first line that it understood: a header without a colon,
    /// a length that is no number, malformed chunks, a head over its memory. The connection is closed
    /// without an answer; the refuser is called for its log and metrics only.
    case refusedByLibrary

    /// The status it is answered with.
    public var status: Int {
        switch self {
        case .malformed, .refusedByLibrary: 400
        case .lengthRequired: 411
        case .bodyTooLarge: 413
        case .unknownExpectation: 417
        case .headersTooLarge: 431
        case .unknownTransferCoding: 501
        }
    }
}
