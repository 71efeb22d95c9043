/// The operations of the API; the raw value is OpenAPI's `operationId`.
enum Operation: String, CaseIterable, Hashable, Sendable {
    case enrol, listCredentials, renameCredential, revokeCredential, confirmCredential, verify
    case resynchronizeCredential, unlockCredential, redeemEnrolment, signIn, redeemLogin
    case registerPasskey, beginCeremony, verifyAssertion, completeStepUp, listAcceptedPasskeys
    case beginBrowserCeremony, registerInBrowser, verifyInBrowser
    case createConfirmation, registerDeviceKey, activateDeviceKey, createDeviceChallenge
    case verifyDeviceSignature
    case closeAccount, listEvents, describeInterface
}

/// The HTTP methods that the API uses.
package enum Method: String, CaseIterable, Hashable, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
}

/// What an API key permits.
package enum Scope: String, CaseIterable, Hashable, Sendable {
    /// Verifying codes and redeeming login tickets.
    case verify
    /// Enrolling and confirming credentials.
    case enrol
    /// With `enrol`: importing existing keys, and activating them without a first code.
    case `import`
    /// Listing, renaming, revoking, resynchronising and unlocking credentials; closing accounts.
    case manage
    /// With `verify`: reading why a code was denied.
    case reasons
    /// Reading events.
    case audit
}

/// Who may use a route.
enum Access: Hashable, Sendable {
    /// An application with this scope.
    case scope(Scope)
    /// A device, which has no API key; limited by address.
    case device
    /// A page of this server in a browser, which has no API key; limited by address.
    case browser
    /// Anyone; limited by address.
    case everybody
}

/// A part of a route's path.
enum PathPart: Hashable, Sendable {
    case word(String)
    case parameter(String, TextForm)
}

/// One route: its request and its responses.
///
/// The service validates requests against it, and generates OpenAPI from it. All requests share the
/// same objects.
final class Route: Sendable {
    let operation: Operation
    let method: Method
    let path: [PathPart]
    let access: Access
    /// One sentence for OpenAPI.
    let summary: String
    /// The query parameters: integers, all optional.
    let parameters: [(name: String, range: ClosedRange<Int64>)]
    /// The expected body; `nil` if the route takes none.
    let body: BodyShape?
    let success: Success
    /// The possible shapes of a successful response.
    let answers: [Shape]
    /// Problems in addition to those that every route of this kind can have.
    let problems: [Problem]
    /// The path with its parameters in braces, for OpenAPI, logs and metrics.
    let template: String

    init(
        operation: Operation, method: Method, path: [PathPart], access: Access, summary: String,
        parameters: [(name: String, range: ClosedRange<Int64>)] = [], body: BodyShape? = nil,
        success: Success, answers: [Shape] = [], problems: [Problem] = []
    ) {
        self.operation = operation
        self.method = method
        self.path = path
        self.access = access
        self.summary = summary
        self.parameters = parameters
        self.body = body
        self.success = success
        self.answers = answers
        self.problems = problems
        template = path.map { part in
            switch part {
            case .word(let word): "/\(word)"
            case .parameter(let name, _): "/{\(name)}"
            }
        }.joined()
    }
}

extension Route {
    /// All problems of this route.
    ///
    /// A wrong method is a problem of the path, not of the route.
    var allProblems: [Problem] {
        var all: [Problem] = [
            .malformedTarget, .malformedHeader(""), .malformedQuery, .malformedBody(at: nil),
            .bodyTooLarge, .unknownRoute, .tooManyRequests(retryAfter: 1), .unavailable,
            .keyUnavailable, .failed,
        ]
        if case .scope(let scope) = access { all += [.unauthenticated, .missingScope(scope)] }
        all += Set(body?.shapes.compactMap(\.scope) ?? []).map(Problem.missingScope)
        if body != nil {
            all += [
                .lengthRequired, .doubledField(at: 0), .unknownField, .missingField(""),
                .invalidField(""), .notJSON,
            ]
        }
        if access == .browser { all += [.foreignOrigin, .notConfigured("pages")] }
        if method == .post { all += [.idempotencyKeyReused, .answerEnded] }
        return all + problems
    }
}
