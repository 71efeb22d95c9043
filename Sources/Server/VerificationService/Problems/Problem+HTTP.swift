internal import WatchwordCoding

// A problem in an HTTP exchange.
extension Problem {
    /// The header fields of the response.
    var headers: [HTTPField] {
        switch self {
        case .unauthenticated: [HTTPField("WWW-Authenticate", "Bearer realm=\"watchword\"")]
        case .missingScope(let scope):
            [
                HTTPField(
                    "WWW-Authenticate",
                    "Bearer realm=\"watchword\", error=\"insufficient_scope\", "
                        + "scope=\"\(scope.rawValue)\"")
            ]
        case .methodNotAllowed(let methods):
            [HTTPField("Allow", methods.map(\.rawValue).joined(separator: ", "))]
        case .tooManyRequests(let seconds): [HTTPField("Retry-After", "\(seconds)")]
        case .unavailable: [HTTPField("Retry-After", "1")]
        case .keyUnavailable: [HTTPField("Retry-After", "60")]
        default: []
        }
    }

    /// The problem in the response to a request that the listener refuses.
    init(_ error: HTTPRequestError) {
        self =
            switch error {
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
