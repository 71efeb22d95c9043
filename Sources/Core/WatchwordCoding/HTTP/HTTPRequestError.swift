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

    /// The status code of the response.
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
