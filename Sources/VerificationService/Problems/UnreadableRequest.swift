/// Why a request never came to be one: what the listener tells the service, which answers for both.
package enum UnreadableRequest: CaseIterable, Hashable, Sendable {
    /// The head is none that everybody understands alike.
    case malformed
    /// A body without a `Content-Length`.
    case lengthRequired
    /// More than 64 KiB of body.
    case bodyTooLarge
    /// An expectation other than `100-continue`.
    case unknownExpectation
    /// More header fields than are read.
    case headersTooLarge
    /// A transfer coding other than `chunked`.
    case unknownTransferCoding
    /// What the HTTP library has refused already, by closing the connection.
    case refusedByLibrary
}

extension Problem {
    /// What the client is told.
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
