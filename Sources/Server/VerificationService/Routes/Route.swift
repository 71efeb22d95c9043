/// The HTTP methods that the API uses.
package enum Method: String, CaseIterable, Hashable, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
}

/// The permission that an API key can have.
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
    /// Reading the events.
    case audit
    /// Reading whether a subject has a second factor, and which kinds.
    case read
}

/// The senders that may use a route.
enum Access: Hashable, Sendable {
    /// An application with this scope.
    case scope(Scope)
    /// A device, which has no API key; limited by address.
    case device
    /// A device that has proved nothing yet and makes the server write to the database; limited by
    /// address, and also by a separate limiter.
    case unprovenDevice
    /// A page of this server in a browser, which has no API key; limited by address.
    case browser
    /// Any sender; limited by address.
    case everybody
}

/// A part of a route's path.
enum PathPart: Hashable, Sendable, ExpressibleByStringLiteral {
    case word(String)
    case parameter(String, TextForm)

    init(stringLiteral word: String) { self = .word(word) }

    static let subject = parameter("subject", .subject)
    static let credential = parameter("credential", .credential)
}

/// The method and the path of a route.
struct Endpoint: Sendable {
    let method: Method
    let path: [PathPart]

    private init(_ method: Method, _ parts: [PathPart]) {
        self.method = method
        path = ["v1"] + parts
    }

    static func get(_ parts: PathPart...) -> Endpoint { Endpoint(.get, parts) }
    static func post(_ parts: PathPart...) -> Endpoint { Endpoint(.post, parts) }
    static func patch(_ parts: PathPart...) -> Endpoint { Endpoint(.patch, parts) }
    static func delete(_ parts: PathPart...) -> Endpoint { Endpoint(.delete, parts) }
}

/// The operation that a route performs.
struct Operation: Sendable {
    typealias Handler = @Sendable (Service) -> (Call) async throws(Refusal) -> RenderedResponse

    /// OpenAPI's `operationId`, also used in metrics.
    let id: String
    /// The summary for OpenAPI, as one sentence.
    let summary: String
    /// The service's method for the request.
    let handler: Handler

    init(_ id: String, _ summary: String, _ handler: @escaping Handler) {
        self.id = id
        self.summary = summary
        self.handler = handler
    }
}

/// The input of a route, apart from the parameters in its path.
enum RouteInput: Sendable {
    case nothing
    /// Parameters of the query: integers and texts, all optional.
    case query([Field])
    case body(BodyShape)
}

/// The responses of a route.
struct RouteResponses: Sendable {
    let success: Success
    /// The possible shapes of a successful response.
    let shapes: [Shape]
    /// Problems in addition to those that every route of this kind can have.
    let problems: [Problem]

    /// A response with content.
    ///
    /// A denial also counts as a success.
    static func answered(_ shapes: Shape..., problems: [Problem] = []) -> RouteResponses {
        RouteResponses(success: .answered, shapes: shapes, problems: problems)
    }

    /// A response to a request that created something.
    static func made(_ shapes: Shape..., problems: [Problem] = []) -> RouteResponses {
        RouteResponses(success: .made, shapes: shapes, problems: problems)
    }

    /// A response without content.
    static func done(problems: [Problem] = []) -> RouteResponses {
        RouteResponses(success: .done, shapes: [], problems: problems)
    }
}

/// One route: its operation, its request and its responses.
///
/// The service validates requests against it, calls its handler, and generates OpenAPI from it. All
/// requests share the same objects.
final class Route: Sendable {
    let method: Method
    let path: [PathPart]
    let access: Access
    let operation: Operation
    let input: RouteInput
    let responses: RouteResponses
    /// The path with its parameters in braces, for OpenAPI, logs and metrics.
    let template: String

    init(
        _ endpoint: Endpoint, for access: Access, _ operation: Operation,
        takes input: RouteInput = .nothing, responds responses: RouteResponses
    ) {
        method = endpoint.method
        path = endpoint.path
        self.access = access
        self.operation = operation
        self.input = input
        self.responses = responses
        template = endpoint.path.map { part in
            switch part {
            case .word(let word): "/\(word)"
            case .parameter(let name, _): "/{\(name)}"
            }
        }.joined()
    }

    /// The parameters of the query.
    var parameters: [Field] {
        if case .query(let parameters) = input { parameters } else { [] }
    }

    /// The expected body; `nil` if the route accepts none.
    var body: BodyShape? {
        if case .body(let shape) = input { shape } else { nil }
    }
}

extension Route {
    /// All problems of this route.
    ///
    /// An unsupported method is a problem of the path, not of the route.
    var allProblems: [Problem] {
        var all: [Problem] = [
            .malformedTarget, .malformedHeader(IdempotencyKey.header), .malformedQuery,
            .malformedBody(at: 17),
            .bodyTooLarge, .unknownRoute, .tooManyRequests(retryAfter: 1), .unavailable,
            .keyUnavailable, .failed,
        ]
        if case .scope(let scope) = access {
            all +=
                [.unauthenticated, .missingScope(scope)] + (namesSubject ? [.foreignSubject] : [])
        }
        all += Set(body?.shapes.compactMap(\.scope) ?? []).map(Problem.missingScope)
        if body != nil {
            all += [
                .lengthRequired, .doubledField(FieldFault("code", at: 34)),
                .unknownField(FieldFault("kode", at: 19, expected: "one of subject, code")),
                .missingField(FieldFault("code", expected: TextForm.code.expectation)),
                .invalidField(
                    FieldFault("codes[1]", at: 19, expected: TextForm.oneTimePassword.expectation)),
                .notJSON,
            ]
        }
        if access == .browser { all += [.foreignOrigin, .notConfigured("pages")] }
        if method == .post { all += [.idempotencyKeyReused, .answerEnded] }
        return all + responses.problems
    }
}

extension Route {
    /// Whether a request specifies a subject, or the beginning of subjects (``Call/named``).
    var namesSubject: Bool {
        path.contains(.subject) || parameters.contains { $0.name == "prefix" }
            || body?.shapes.contains { $0.fields.contains { $0.name == "subject" } } ?? false
    }
}

/// Every route under `/v1`.
///
/// Each group of routes is declared in the file with its handlers and shapes.
enum RouteTable {
    /// Routes that belong together; a group is a tag in OpenAPI.
    struct Group: Sendable {
        let name: String
        let explanation: String
        let routes: [Route]
    }

    /// The groups, in the order of the OpenAPI document.
    static let groups = [
        Group(
            name: "Enrolment", explanation: "Enrols the second factors of a subject.",
            routes: enrolment),
        Group(
            name: "Codes", explanation: "Verifies codes, and redeems the login tickets of devices.",
            routes: checks),
        Group(
            name: "Credentials", explanation: "Confirms, lists, repairs and revokes credentials.",
            routes: management),
        Group(
            name: "Subjects", explanation: "Reports the second factors of a subject.",
            routes: subjects),
        Group(
            name: "Passkeys", explanation: "The ceremonies of passkeys, for applications.",
            routes: passkeys),
        Group(
            name: "Devices", explanation: "Enrols secrets on devices, and signs devices in.",
            routes: devices),
        Group(
            name: "Device keys",
            explanation: "Registers device keys, signs in, and confirms texts.",
            routes: deviceKeys),
        Group(
            name: "Pages", explanation: "For the server's own pages only, in a browser.",
            routes: browsers),
        Group(
            name: "Records", explanation: "The events, and this document.", routes: records),
    ]

    /// All routes, in the order of their groups.
    static let all = groups.flatMap(\.routes)
}
