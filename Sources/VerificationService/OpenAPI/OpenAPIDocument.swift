internal import JSONText

/// The interface described in OpenAPI 3.1, made from the routes themselves.
///
/// The document and the server read the same table, so neither can say what the other does not do.
enum OpenAPIDocument {
    /// The whole document.
    static var json: JSONValue {
        .object([
            ("openapi", .text("3.1.0")),
            (
                "info",
                .object([
                    ("title", .text("Watchword")), ("version", .text("1")),
                    ("summary", .text("Verifies one-time passwords and enrolled secrets.")),
                    ("description", .text(description)),
                ])
            ),
            ("servers", .list([.object([("url", .text("/"))])])),
            ("paths", .object(paths)),
            (
                "components",
                .object([
                    ("securitySchemes", .object([("apiKey", securityScheme)])),
                    ("headers", .object(headers)), ("responses", .object(problemResponses)),
                    ("schemas", .object(schemas)),
                ])
            ),
        ])
    }

    private static let description = """
        Bodies are closed: unknown, doubled and null fields are refused, and nothing of a malformed \
        request touches any state. Every error is application/problem+json (RFC 9457) with a stable \
        type. A wrong code is no error. Names and subjects have at most as many bytes in UTF-8 as \
        characters are allowed. Bodies have at most 64 KiB. The clients of one server are one tenant: \
        each of them may do with every subject and credential what its scopes allow. The exception is a \
        login ticket: only the client that enrolled the device, and those that the enrolment names in \
        redeemable_by, can redeem it.
        """

    private static let securityScheme = JSONValue.object([
        ("type", .text("http")), ("scheme", .text("bearer")), ("bearerFormat", .text("wwk_…")),
        (
            "description",
            .text(
                "An API key of `watchword-server client add`, with the scopes "
                    + Scope.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        ),
    ])

    private static var paths: [(String, JSONValue)] {
        var templates: [String] = []
        for route in RouteTable.all where !templates.contains(route.template) {
            templates.append(route.template)
        }
        return templates.map { template in
            let routes = RouteTable.all.filter { $0.template == template }
            return (
                template,
                .object(routes.map { ($0.method.rawValue.lowercased(), operation(of: $0)) })
            )
        }
    }

    private static func operation(of route: Route) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("operationId", .text(route.operation.rawValue)), ("summary", .text(route.summary)),
        ]
        switch route.access {
        case .scope(let scope):
            members.append(("security", .list([.object([("apiKey", .list([]))])])))
            members.append(("description", .text("Needs the scope `\(scope.rawValue)`.")))
        case .device, .everybody: members.append(("security", .list([])))
        }
        let parameters = OpenAPISchema.parameters(of: route)
        if !parameters.isEmpty { members.append(("parameters", .list(parameters))) }
        if let body = route.body {
            members.append(
                (
                    "requestBody",
                    .object([
                        ("required", .flag(true)),
                        (
                            "content",
                            content("application/json", OpenAPISchema.any(of: body.shapes))
                        ),
                    ])
                ))
        }
        members.append(("responses", .object(responses(of: route))))
        return .object(members)
    }

    private static func responses(of route: Route) -> [(String, JSONValue)] {
        var success: [(String, JSONValue)] = [
            ("description", .text(route.summary)),
            ("headers", .object(headers.filter { $0.0 != "Retry-After" }.map(reference))),
        ]
        if route.success != .done {
            let schema =
                route.answers.isEmpty
                ? JSONValue.object([("type", .text("object"))])
                : OpenAPISchema.any(of: route.answers)
            success.append(("content", content("application/json", schema)))
        }
        let statuses = Set(route.allProblems.map(\.status)).sorted { $0.rawValue < $1.rawValue }
        return [("\(route.success.status.rawValue)", .object(success))]
            + statuses.map { status in
                (
                    "\(status.rawValue)",
                    .object([
                        ("$ref", .text("#/components/responses/Problem\(status.rawValue)"))
                    ])
                )
            }
    }

    private static func reference(_ header: (String, JSONValue)) -> (String, JSONValue) {
        (header.0, .object([("$ref", .text("#/components/headers/\(header.0)"))]))
    }

    private static let headers: [(String, JSONValue)] = [
        (
            "Cache-Control",
            .object([
                ("required", .flag(true)),
                (
                    "schema",
                    .object([("type", .text("string")), ("const", .text("no-store"))])
                ),
            ])
        ),
        (
            "Request-Id",
            .object([
                ("required", .flag(true)),
                (
                    "schema",
                    .object([
                        ("type", .text("string")), ("pattern", .text("^rq_[A-Za-z0-9_-]{16}$")),
                    ])
                ),
            ])
        ),
        (
            "Retry-After",
            .object([
                ("required", .flag(true)),
                (
                    "schema",
                    .object([("type", .text("integer")), ("minimum", .number(1))])
                ),
            ])
        ),
    ]

    /// A response for each status that a problem can have, and with it the types that it can be.
    private static var problemResponses: [(String, JSONValue)] {
        let all = RouteTable.all.flatMap(\.allProblems) + [.methodNotAllowed([])]
        let statuses = Set(all.map(\.status)).sorted { $0.rawValue < $1.rawValue }
        return statuses.map { status in
            let problems = all.filter { $0.status == status }
            let asksForPatience = problems.contains { problem in
                problem.headers.contains { $0.name == "Retry-After" }
            }
            let names = Set(problems.map(\.type)).sorted()
            let schema = JSONValue.object([
                (
                    "allOf",
                    .list([
                        .object([("$ref", .text("#/components/schemas/Problem"))]),
                        .object([
                            (
                                "properties",
                                .object([
                                    ("type", .object([("enum", .list(names.map(JSONValue.text)))])),
                                    (
                                        "status",
                                        .object([("const", .number(Int64(status.rawValue)))])
                                    ),
                                ])
                            )
                        ]),
                    ])
                )
            ])
            return (
                "Problem\(status.rawValue)",
                .object([
                    (
                        "description",
                        .text(Set(problems.map(\.title)).sorted().joined(separator: " "))
                    ),
                    (
                        "headers",
                        .object(
                            headers.filter { asksForPatience || $0.0 != "Retry-After" }
                                .map(reference))
                    ),
                    ("content", content("application/problem+json", schema)),
                ])
            )
        }
    }

    private static var schemas: [(String, JSONValue)] {
        OpenAPISchema.schemas(
            of: RouteTable.all.flatMap { ($0.body?.shapes ?? []) + $0.answers })
            + [("Problem", OpenAPISchema.problem)]
    }

    private static func content(_ type: String, _ schema: JSONValue) -> JSONValue {
        .object([(type, .object([("schema", schema)]))])
    }
}
