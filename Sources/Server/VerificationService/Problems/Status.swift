/// The status codes that the service uses (RFC 9110, section 15; RFC 6585, section 4).
///
/// There is no 3xx status: a redirect would make the client send a secret again (OWASP ASVS 4.1.2).
enum Status: Int, CaseIterable, Sendable {
    case ok = 200
    case created = 201
    case noContent = 204
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case conflict = 409
    case gone = 410
    case lengthRequired = 411
    case contentTooLarge = 413
    case unsupportedMediaType = 415
    case expectationFailed = 417
    case unprocessableContent = 422
    case tooManyRequests = 429
    case requestHeaderFieldsTooLarge = 431
    case internalServerError = 500
    case notImplemented = 501
    case serviceUnavailable = 503
}

extension Status {
    /// Whether the response is a problem.
    var isProblem: Bool { rawValue >= 400 }
}

extension Problem {
    /// The status of the problem.
    ///
    /// This is the only place where errors are mapped to statuses.
    var status: Status {
        switch self {
        case .malformedRequest, .refusedByLibrary, .malformedTarget, .malformedHeader,
            .malformedQuery, .malformedBody, .doubledField, .unknownField, .missingField,
            .invalidField, .keyTooShort, .tooManyLines:
            .badRequest
        case .unknownExpectation: .expectationFailed
        case .headersTooLarge: .requestHeaderFieldsTooLarge
        case .unknownTransferCoding: .notImplemented
        case .unauthenticated: .unauthorized
        case .missingScope, .refusedTicket, .registeredKey, .refusedKey, .foreignOrigin:
            .forbidden
        case .unknownRoute, .unknownCredential, .notConfigured: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .lengthRequired: .lengthRequired
        case .bodyTooLarge: .contentTooLarge
        case .notJSON: .unsupportedMediaType
        case .keyInUse, .tooManyCredentials, .refusedByState: .conflict
        case .idempotencyKeyReused, .unknownClient, .usedInFuture, .weakPolicy:
            .unprocessableContent
        case .answerEnded: .gone
        case .tooManyRequests: .tooManyRequests
        case .unavailable, .keyUnavailable: .serviceUnavailable
        case .failed: .internalServerError
        }
    }
}

extension Success {
    /// The status of the successful response.
    var status: Status {
        switch self {
        case .answered: .ok
        case .made: .created
        case .done: .noContent
        }
    }
}

/// The kinds of successful response.
enum Success: Sendable {
    /// The response has content. A denial also counts as a success.
    case answered
    /// Something was created.
    case made
    /// The response has no content.
    case done
}
