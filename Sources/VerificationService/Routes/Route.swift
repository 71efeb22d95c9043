/// What the service can be asked to do; the raw value is OpenAPI's `operationId`.
enum Operation: String, CaseIterable, Hashable, Sendable {
    case enrol, listCredentials, renameCredential, revokeCredential, confirmCredential, verify
    case resynchronizeCredential, unlockCredential, redeemEnrolment, signIn, redeemLogin
    case closeAccount, listEvents, describeInterface
}

/// The methods that routes have.
package enum Method: String, CaseIterable, Hashable, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
}

/// What an API key may be good for.
package enum Scope: String, CaseIterable, Hashable, Sendable {
    /// Checking codes and redeeming logins.
    case verify
    /// Handing out and confirming credentials.
    case enrol
    /// Listing, renaming, revoking, resynchronising and unlocking credentials.
    case manage
    /// Being told why a code was denied; beside `verify`.
    case reasons
    /// Reading events.
    case audit
}

/// Who may ask.
enum Access: Hashable, Sendable {
    /// An application with this scope.
    case scope(Scope)
    /// A device, which has no API key; limited by address.
    case device
    /// Everybody; limited by address.
    case everybody
}

/// A part of a route's path.
enum PathPart: Hashable, Sendable {
    case word(String)
    case parameter(String, TextForm)
}

/// One route: what it takes and what it answers.
///
/// Requests are read by it and OpenAPI is written from it. There is one object for each, which every
/// request to it shares.
final class Route: Sendable {
    let operation: Operation
    let method: Method
    let path: [PathPart]
    let access: Access
    /// What it does, in a sentence.
    let summary: String
    /// Whole numbers in the query, none of which has to be there.
    let parameters: [(name: String, range: ClosedRange<Int64>)]
    /// What the body looks like; nothing when there is none.
    let body: BodyShape?
    let success: Success
    /// What an answer looks like that is no problem: one of these.
    let answers: [Shape]
    /// Problems beyond those that any such route can have.
    let problems: [Problem]
    /// The path with its parameters in braces; for OpenAPI, logs and metrics.
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
    /// Every problem that this route can have; a method that it lacks is none of its own.
    var allProblems: [Problem] {
        var all: [Problem] = [
            .malformedTarget, .malformedHeader(""), .malformedQuery, .malformedBody(at: nil),
            .bodyTooLarge, .unknownRoute, .tooManyRequests(retryAfter: 1), .unavailable,
            .keyUnavailable, .failed,
        ]
        if case .scope(let scope) = access { all += [.unauthenticated, .missingScope(scope)] }
        if body != nil {
            all += [
                .lengthRequired, .doubledField(at: 0), .unknownField, .missingField(""),
                .invalidField(""), .notJSON,
            ]
        }
        if method == .post { all += [.idempotencyKeyReused, .answerEnded] }
        return all + problems
    }
}
