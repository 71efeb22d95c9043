/// A request as it came over the socket: whole, well formed, and within the limits.
public struct ListenerRequest: Sendable {
    /// A header field; its name is in lower case.
    public typealias Header = (name: String, value: String)

    /// The method, such as `POST`.
    public let method: String
    /// The path as it was sent, percent-encoding and all; it begins with a slash, or is `*`.
    public let path: String
    /// What follows the question mark, as it was sent; `nil` without one.
    public let query: String?
    /// The header fields in their order; those that came more than once, and may, are joined.
    public let headers: [Header]
    /// The body, which may hold a secret of the caller: it is neither logged nor kept.
    public let body: [UInt8]
    /// The numeric address of whoever opened the connection.
    public let peer: String

    /// Puts a request together.
    public init(
        method: String, path: String, query: String?, headers: [Header], body: [UInt8],
        peer: String
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
    }
}

/// What is answered.
public struct ListenerResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The header fields, without `Content-Length` and `Connection`.
    public let headers: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]

    /// Puts an answer together.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// What the listener refuses by itself, before anybody behind it sees the request.
public enum ListenerRefusal: Error, CaseIterable, Hashable, Sendable {
    /// No HTTP that all understand alike: 400.
    case malformed
    /// A body over the limit: 413.
    case bodyTooLarge
    /// An expectation other than `100-continue`: 417.
    case unknownExpectation
    /// Headers over the limit: 431.
    case headersTooLarge
    /// A transfer coding other than `chunked`: 501.
    case unknownTransferCoding

    /// The status it is answered with.
    public var status: Int {
        switch self {
        case .malformed: 400
        case .bodyTooLarge: 413
        case .unknownExpectation: 417
        case .headersTooLarge: 431
        case .unknownTransferCoding: 501
        }
    }
}
