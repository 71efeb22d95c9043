internal import WatchwordCoding
internal import WatchwordCryptography

/// The reason for an error response.
///
/// A problem may name the field at fault, but never repeats a value that the client sent.
enum Problem: Hashable, Sendable {
    /// The header could be interpreted in more than one way.
    case malformedRequest
    /// An expectation other than `100-continue`.
    case unknownExpectation
    /// The header fields exceed the limit.
    case headersTooLarge
    /// A body without a `Content-Length`.
    case lengthRequired
    /// A transfer coding other than `chunked`.
    case unknownTransferCoding
    /// The HTTP library has already rejected the request; this case is for the log and the metrics.
    case refusedByLibrary
    /// The path or the query is malformed.
    case malformedTarget
    /// The header field is malformed or duplicated.
    case malformedHeader(String)
    /// A query parameter is unknown, duplicated or malformed.
    case malformedQuery
    /// The body is not the expected JSON object; `at` is the byte offset of the error, if known.
    case malformedBody(at: Int?)
    /// An object contains a duplicate name.
    case doubledField(FieldFault)
    /// A field that the route does not have.
    case unknownField(FieldFault)
    /// A required field is missing.
    case missingField(FieldFault)
    /// A field has the wrong type or form.
    case invalidField(FieldFault)
    /// A client in the request is unknown or revoked.
    case unknownClient
    /// A key of less than 128 bits (RFC 4226, section 4, R6).
    case keyTooShort
    /// A text to confirm has more lines than a device shows.
    case tooManyLines
    /// The last used step of an imported key is beyond the window.
    case usedInFuture
    /// The policy is weaker than the server permits.
    case weakPolicy
    /// The server does not offer the function, because this server option is not set.
    case notConfigured(String)
    /// The `Origin` of a browser's request is missing, or is not configured.
    case foreignOrigin
    /// The API key is missing, unknown or revoked.
    case unauthenticated
    /// The API key lacks this scope.
    case missingScope(Scope)
    /// The client is limited to other subjects.
    case foreignSubject
    /// The ticket is unknown, spent or expired.
    case refusedTicket
    /// The ticket is refused, but the device proved that its key is active.
    case registeredKey(credential: String, custody: String)
    /// The ticket is valid, but the key, its signature or the presence check is not.
    case refusedKey
    /// The request matches no route.
    case unknownRoute
    /// The credential does not exist.
    case unknownCredential
    /// The route does not support the method.
    case methodNotAllowed([Method])
    /// The body exceeds 64 KiB.
    case bodyTooLarge
    /// The `Content-Type` is not JSON.
    case notJSON
    /// The key is or was in use by another credential (RFC 6238, section 3, R5).
    case keyInUse
    /// The subject already has the maximum number of credentials.
    case tooManyCredentials
    /// The state of the credential does not permit the operation.
    case refusedByState
    /// The `Idempotency-Key` was used for a different request.
    case idempotencyKeyReused
    /// The response contained secrets of a credential that has been used or revoked since.
    case answerEnded
    /// The client address exceeds its request rate.
    case tooManyRequests(retryAfter: Int)
    /// The store failed, or the server is overloaded.
    case unavailable
    /// The key file lacks a key version.
    case keyUnavailable
    /// An internal error; the log contains the cause.
    case failed
}

/// The invalid field of a body, its position, and the expected form; never its value.
struct FieldFault: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The path of the field, such as `codes[1]`; `nil` if its name may be a secret.
    let field: String?
    /// The byte offset of the field in the body; `nil` if it is not known.
    let position: Int?
    /// The forms that the route accepts.
    let expected: String?

    init(_ field: String?, at position: Int? = nil, expected: String? = nil) {
        self.field = field
        self.position = position
        self.expected = expected
    }

    init(stringLiteral field: String) { self.init(field) }

    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if let field { members.append(("field", .text(field))) }
        if let position { members.append(("position", .number(Int64(position)))) }
        if let expected { members.append(("expected", .text(expected))) }
        return members
    }
}

extension Problem {
    /// The URI that identifies the problem; it never changes (RFC 9457, section 3.1.1).
    var type: String { "urn:watchword:problem:\(name)" }

    /// The last part of ``type``, also used in logs and metrics.
    var name: String {
        switch self {
        case .malformedRequest: "malformed-request"
        case .unknownExpectation: "unknown-expectation"
        case .headersTooLarge: "headers-too-large"
        case .lengthRequired: "length-required"
        case .unknownTransferCoding: "unknown-transfer-coding"
        case .refusedByLibrary: "refused-by-library"
        case .malformedTarget: "malformed-target"
        case .malformedHeader: "malformed-header"
        case .malformedQuery: "malformed-query"
        case .malformedBody: "malformed-body"
        case .doubledField: "doubled-field"
        case .unknownField: "unknown-field"
        case .missingField: "missing-field"
        case .invalidField: "invalid-field"
        case .unknownClient: "unknown-client"
        case .keyTooShort: "key-too-short"
        case .tooManyLines: "too-many-lines"
        case .usedInFuture: "used-in-future"
        case .weakPolicy: "weak-policy"
        case .notConfigured: "not-configured"
        case .foreignOrigin: "foreign-origin"
        case .unauthenticated: "unauthenticated"
        case .missingScope: "missing-scope"
        case .foreignSubject: "foreign-subject"
        case .refusedTicket, .registeredKey: "refused-ticket"
        case .refusedKey: "refused-key"
        case .unknownRoute: "unknown-route"
        case .unknownCredential: "unknown-credential"
        case .methodNotAllowed: "method-not-allowed"
        case .bodyTooLarge: "body-too-large"
        case .notJSON: "not-json"
        case .keyInUse: "key-in-use"
        case .tooManyCredentials: "too-many-credentials"
        case .refusedByState: "refused-by-state"
        case .idempotencyKeyReused: "idempotency-key-reused"
        case .answerEnded: "answer-ended"
        case .tooManyRequests: "too-many-requests"
        case .unavailable: "unavailable"
        case .keyUnavailable: "key-unavailable"
        case .failed: "failed"
        }
    }

    /// The problem as a sentence, the same for all occurrences.
    var title: String {
        switch self {
        case .malformedRequest: "The request is malformed or ambiguous HTTP/1.1."
        case .unknownExpectation: "The only supported expectation is 100-continue."
        case .headersTooLarge: "The header fields exceed 16 KiB."
        case .lengthRequired: "The body needs a Content-Length; chunked bodies are not supported."
        case .unknownTransferCoding:
            "The transfer coding is not supported; send a Content-Length instead."
        case .refusedByLibrary: "The HTTP library rejected the request."
        case .malformedTarget: "The request target is malformed."
        case .malformedHeader: "A header field is malformed or duplicated."
        case .malformedQuery: "A query parameter is unknown, duplicated or malformed."
        case .malformedBody:
            "The body is not a JSON object that the server can read, or the route takes no body."
        case .doubledField: "An object contains a duplicate name."
        case .unknownField: "The body contains a field that this route does not accept."
        case .missingField: "A required field is missing."
        case .invalidField: "A field has an invalid type or value."
        case .unknownClient: "A client that the request names is unknown or revoked."
        case .keyTooShort: "The key is shorter than 128 bits, or than 80 bits with allow_short_key."
        case .tooManyLines:
            "The text to confirm has more than \(DeviceKeyTranscript.maximumLines) lines."
        case .usedInFuture: "The last used time step is too far in the future."
        case .weakPolicy: "The policy is weaker than the server permits."
        case .notConfigured: "The server is not configured for this function."
        case .foreignOrigin: "The Origin of the request is missing or not permitted."
        case .unauthenticated: "The request needs a valid API key."
        case .missingScope: "The API key does not have the required scope."
        case .foreignSubject: "The API key is limited to other subjects."
        case .refusedTicket, .registeredKey: "The ticket is unknown, already used or expired."
        case .refusedKey:
            "The key, its signature or the presence check was refused; the ticket is still valid."
        case .unknownRoute: "The route does not exist."
        case .unknownCredential:
            "There is no such credential, or it cannot be used in this request."
        case .methodNotAllowed: "The route does not support this method."
        case .bodyTooLarge: "The body exceeds 64 KiB."
        case .notJSON: "The Content-Type must be application/json."
        case .keyInUse: "The key is or was used by another credential."
        case .tooManyCredentials: "The subject has too many credentials."
        case .refusedByState: "The state of the credential does not permit this operation."
        case .idempotencyKeyReused: "The idempotency key was used for a different request."
        case .answerEnded: "The response contained a secret and is no longer available."
        case .tooManyRequests: "Too many requests from this address."
        case .unavailable:
            "The service is temporarily unavailable; repeat the request with the same Idempotency-Key."
        case .keyUnavailable: "The server does not have a required key."
        case .failed: "The service failed."
        }
    }

    /// Members beyond the title: names that the server chose, and positions.
    private var members: [(String, JSONValue)] {
        switch self {
        case .malformedBody(let position?): [("position", .number(Int64(position)))]
        case .doubledField(let fault), .unknownField(let fault), .missingField(let fault),
            .invalidField(let fault):
            fault.members
        case .unknownClient: [("field", .text("redeemable_by"))]
        case .keyTooShort: [("field", .text("key"))]
        case .tooManyLines: [("field", .text("text"))]
        case .weakPolicy: [("field", .text("policy"))]
        case .notConfigured(let option): [("option", .text(option))]
        case .usedInFuture: [("field", .text("last_used_step"))]
        case .malformedHeader(let name): [("header", .text(name))]
        case .missingScope(let scope): [("scope", .text(scope.rawValue))]
        case .registeredKey(let credential, let custody):
            [("credential", .text(credential)), ("custody", .text(custody))]
        default: []
        }
    }

    /// The problem as JSON (RFC 9457, section 3).
    var json: JSONValue {
        .object(
            [
                ("type", .text(type)), ("title", .text(title)),
                ("status", .number(Int64(status.rawValue))),
            ] + members)
    }
}

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

/// The status codes that the service uses (RFC 9110, section 15; RFC 6585, section 4).
///
/// The service never redirects, because a redirect would make the client send a secret again (OWASP
/// ASVS 4.1.2).
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
        case .missingScope, .foreignSubject, .refusedTicket, .registeredKey, .refusedKey,
            .foreignOrigin:
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
    /// The request created an object.
    case made
    /// The response has no content.
    case done
}
