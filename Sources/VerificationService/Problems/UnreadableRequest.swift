/// Why the listener rejected a request; the service builds the response.
package enum UnreadableRequest: CaseIterable, Hashable, Sendable {
    /// The header could be interpreted in more than one way.
    case malformed
    /// A body without a `Content-Length`.
    case lengthRequired
    /// The body exceeds 64 KiB.
    case bodyTooLarge
    /// An expectation other than `100-continue`.
    case unknownExpectation
    /// The header fields exceed the limit.
    case headersTooLarge
    /// A transfer coding other than `chunked`.
    case unknownTransferCoding
    /// The HTTP library has already rejected the request and closed the connection.
    case refusedByLibrary
}

extension Problem {
    /// The problem in the response.
    init(_ reason: UnreadableRequest) {
        self =
            switch reason {
            case .malformed: .malformedRequest
            case .lengthRequired: .lengthRequired
            case .bodyTooLarge: .bodyTooLarge
            case .unknownExpectation: .unknownExpectation
            case .headersTooLarge: .headersTooLarge
            case .unknownTransferCoding: .unknownTransferCoding
            case .refusedByLibrary: .refusedByLibrary
            }
    }
}
