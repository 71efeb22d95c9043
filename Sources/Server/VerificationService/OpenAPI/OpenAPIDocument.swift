internal import WatchwordCoding

/// The OpenAPI 3.1 document, generated from the routes.
///
/// The document and the server use the same table, so they cannot disagree.
enum OpenAPIDocument {
    /// The complete OpenAPI document, as JSON.
    static var json: JSONValue {
        [
            "openapi": "3.1.0",
            "info": [
                "title": "Watchword", "version": "1",
                "summary":
                    "Verifies one-time passwords, enrolled secrets, passkeys and device keys.",
                "description": .text(description),
            ],
            "servers": [["url": "/"]],
            "tags": .list(
                RouteTable.groups.map {
                    ["name": .text($0.name), "description": .text($0.explanation)]
                }),
            "paths": .object(paths),
            "components": [
                "securitySchemes": ["apiKey": securityScheme],
                "headers": .object(headers), "responses": .object(problemResponses),
                "schemas": .object(schemas),
            ],
        ]
    }

    private static let description = """
        Unknown fields, duplicate names and null are rejected, except in the object response, which the browser's \
        method toJSON() returns: its known members are checked, and others are permitted. A malformed request changes no state. Every \
        error is application/problem+json (RFC 9457) with a stable type. A wrong code is a decision, not an \
        error. The maximum lengths of names and subjects also apply to their bytes in UTF-8. A body has at \
        most 64 KiB. A client can use its scopes on every subject and every credential, unless it was added with \
        --subjects: other subjects get foreign-subject, and their credentials, tickets and events do not exist \
        for it. The login tickets of devices are an exception: only the client that enrolled the device, and \
        the clients that the enrolment lists in redeemable_by, can redeem them.
        """

    private static let securityScheme: JSONValue = [
        "type": "http", "scheme": "bearer", "bearerFormat": "wwk_…",
        "description": .text(
            "An API key from `watchword-server client add`. Its scopes are a selection of "
                + Scope.allCases.map(\.rawValue).joined(separator: ", ") + "."),
    ]

    private static var paths: [(String, JSONValue)] {
        var paths: [(template: String, operations: [(String, JSONValue)])] = []
        for group in RouteTable.groups {
            for route in group.routes {
                let index = paths.firstIndex { $0.template == route.template } ?? paths.count
                if index == paths.count { paths.append((route.template, [])) }
                paths[index].operations.append(
                    (route.method.rawValue.lowercased(), operation(of: route, in: group.name)))
            }
        }
        return paths.map { ($0.template, .object($0.operations)) }
    }

    private static func operation(of route: Route, in group: String) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("tags", [.text(group)]), ("operationId", .text(route.operation.id)),
            ("summary", .text(route.operation.summary)),
        ]
        switch route.access {
        case .scope(let scope):
            members.append(("security", [["apiKey": []]]))
            members.append(("description", .text("Requires the scope `\(scope.rawValue)`.")))
        case .device, .unprovenDevice, .browser, .everybody: members.append(("security", []))
        }
        let parameters = OpenAPISchema.parameters(of: route)
        if !parameters.isEmpty { members.append(("parameters", .list(parameters))) }
        if let body = route.body {
            let content = content(
                "application/json", OpenAPISchema.any(of: body.shapes), examples(of: body.shapes))
            members.append(("requestBody", ["required": true, "content": content]))
        }
        members.append(("responses", .object(responses(of: route))))
        return .object(members)
    }

    private static func responses(of route: Route) -> [(String, JSONValue)] {
        var success: [(String, JSONValue)] = [
            ("description", .text(route.operation.summary)),
            ("headers", .object(headers.filter { $0.0 != "Retry-After" }.map(reference))),
        ]
        if route.responses.success != .done {
            let shapes = route.responses.shapes
            let schema: JSONValue =
                shapes.isEmpty ? ["type": "object"] : OpenAPISchema.one(of: shapes)
            let content = content("application/json", schema, examples(of: shapes))
            success.append(("content", content))
        }
        let statuses = Set(route.allProblems.map(\.status)).sorted { $0.rawValue < $1.rawValue }
        return [("\(route.responses.success.status.rawValue)", .object(success))]
            + statuses.map { status in
                let response = "#/components/responses/Problem\(status.rawValue)"
                return ("\(status.rawValue)", ["$ref": .text(response)])
            }
    }

    private static func reference(_ header: (String, JSONValue)) -> (String, JSONValue) {
        (header.0, ["$ref": .text("#/components/headers/\(header.0)")])
    }

    private static let headers: [(String, JSONValue)] = [
        ("Cache-Control", header(["type": "string", "const": "no-store"])),
        ("Request-Id", header(["type": "string", "pattern": "^rq_[A-Za-z0-9_-]{16}$"])),
        ("Retry-After", header(["type": "integer", "minimum": 1])),
    ]

    private static func header(_ schema: JSONValue) -> JSONValue {
        ["required": true, "schema": schema]
    }

    /// One response for each status, with the problem types that use the status.
    private static var problemResponses: [(String, JSONValue)] {
        let all = RouteTable.all.flatMap(\.allProblems) + [.methodNotAllowed([])]
        let statuses = Set(all.map(\.status)).sorted { $0.rawValue < $1.rawValue }
        return statuses.map { status in
            let problems = all.filter { $0.status == status }
            let hasRetryAfter = problems.contains { problem in
                problem.headers.contains { $0.name == "Retry-After" }
            }
            // One schema for all problems, because client generators do not merge it with a schema
            // for each status.
            let schema: JSONValue = ["$ref": "#/components/schemas/Problem"]
            let examples = Set(problems.map(\.name)).sorted().compactMap { name in
                problems.first { $0.name == name }.map { (name, $0.json) }
            }
            let description = Set(problems.map(\.title)).sorted().joined(separator: " ")
            let fields = headers.filter { hasRetryAfter || $0.0 != "Retry-After" }
            return (
                "Problem\(status.rawValue)",
                [
                    "description": .text(description), "headers": .object(fields.map(reference)),
                    "content": content("application/problem+json", schema, examples),
                ]
            )
        }
    }

    private static var schemas: [(String, JSONValue)] {
        OpenAPISchema.schemas(
            of: RouteTable.all.flatMap { ($0.body?.shapes ?? []) + $0.responses.shapes })
            + [("Problem", OpenAPISchema.problem)]
    }

    /// An example of each shape, keyed by the shape's name.
    private static func examples(of shapes: [Shape]) -> [(String, JSONValue)] {
        shapes.map { ($0.name, $0.example) }
    }

    private static func content(
        _ type: String, _ schema: JSONValue, _ examples: [(String, JSONValue)]
    ) -> JSONValue {
        let examples = JSONValue.object(examples.map { ($0.0, ["value": $0.1]) })
        return [type: ["schema": schema, "examples": examples]]
    }
}
