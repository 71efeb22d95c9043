internal import WatchwordCoding

/// JSON Schemas (draft 2020-12, as in OpenAPI 3.1) of request and response bodies.
enum OpenAPISchema {
    /// A reference to the only shape of a response, or `oneOf` for several shapes.
    static func one(of shapes: [Shape]) -> JSONValue {
        shapes.count == 1
            ? reference(shapes[0])
            : ["oneOf": .list(shapes.map(reference))]
    }

    /// A reference to the only shape of a request, or `anyOf` for several shapes, which may
    /// overlap.
    static func any(of shapes: [Shape]) -> JSONValue {
        shapes.count == 1
            ? reference(shapes[0])
            : ["anyOf": .list(shapes.map(reference))]
    }

    /// The schemas of the shapes and of all nested shapes, without duplicates.
    static func schemas(of shapes: [Shape]) -> [(String, JSONValue)] {
        var schemas: [(String, JSONValue)] = []
        var rest = shapes
        while !rest.isEmpty {
            let shape = rest.removeFirst()
            guard !schemas.contains(where: { $0.0 == shape.name }) else { continue }
            schemas.append((shape.name, schema(of: shape)))
            rest += shape.fields.compactMap { innerShape(of: $0.kind) }
        }
        return schemas
    }

    /// The schema that all problems share.
    static let problem: JSONValue = [
        "type": "object",
        "properties": [
            "type": ["type": "string", "format": "uri"],
            "title": ["type": "string"],
            "status": ["type": "integer"],
            "field": [
                "type": "string",
                "description":
                    "The path of the field at fault, such as `codes[1]`. Absent if the field has an unknown name that could be a secret.",
            ],
            "expected": [
                "type": "string",
                "description": "What the route accepts instead, in words.",
            ],
            "header": ["type": "string"],
            "scope": ["type": "string"],
            "option": ["type": "string"],
            "credential": [
                "type": "string",
                "description": "The credential of the device's key, which is already active.",
            ],
            "custody": ["type": "string"],
            "position": [
                "type": "integer",
                "description":
                    "The byte offset in the body of the field at fault, or about that of a syntax error.",
            ],
        ],
        "required": ["type", "title", "status"],
        "additionalProperties": false,
    ]

    /// The parameters of a route, in its path, query and header fields.
    static func parameters(of route: Route) -> [JSONValue] {
        var parameters: [JSONValue] = []
        for case .parameter(let name, let form) in route.path {
            let described = parameter(
                name, place: "path", isRequired: true, schema: schema(of: .text(form)))
            let example = ("example", JSONValue.text(form.example(number: 0)))
            parameters.append(.object((described.members ?? []) + [example]))
        }
        for field in route.parameters {
            parameters.append(
                parameter(
                    field.name, place: "query", isRequired: false, schema: schema(of: field.kind)))
        }
        if route.method == .post {
            parameters.append(
                parameter(
                    IdempotencyKey.header, place: "header", isRequired: false,
                    schema: [
                        "type": "string", "pattern": .text(IdempotencyKey.pattern),
                        "description": .text(IdempotencyKey.explanation),
                    ]))
        }
        return parameters
    }

    private static func parameter(
        _ name: String, place: String, isRequired: Bool, schema: JSONValue
    ) -> JSONValue {
        [
            "name": .text(name), "in": .text(place), "required": .flag(isRequired),
            "schema": schema,
        ]
    }

    private static func reference(_ shape: Shape) -> JSONValue {
        ["$ref": .text("#/components/schemas/\(shape.name)")]
    }

    private static func innerShape(of kind: FieldKind) -> Shape? {
        switch kind {
        case .object(let shape): shape
        case .list(let element, _): innerShape(of: element)
        default: nil
        }
    }

    private static func schema(of shape: Shape) -> JSONValue {
        let required = shape.fields.filter(\.isRequired).map { JSONValue.text($0.name) }
        var members: [(String, JSONValue)] = [
            ("type", "object"),
            ("properties", .object(shape.fields.map { ($0.name, schema(of: $0)) })),
            ("required", .list(required)), ("additionalProperties", .flag(shape.isOpen)),
        ]
        // A body has this shape only if it has a field that requires the scope. Client generators
        // treat `anyOf` in an object as a choice of types, but ignore `not`.
        let scoped = shape.fields.filter { $0.scope != nil }
        if !scoped.isEmpty, !scoped.contains(where: \.isRequired) {
            let absent: [JSONValue] = scoped.map { ["not": ["required": [.text($0.name)]]] }
            members.append(("not", ["allOf": .list(absent)]))
        }
        return .object(members)
    }

    private static func schema(of field: Field) -> JSONValue {
        let schema = schema(of: field.kind)
        let scope = field.scope.map { "Requires the scope `\($0.rawValue)`." }
        guard let note = scope ?? field.note, let members = schema.members else { return schema }
        return .object(members.filter { $0.0 != "description" } + [("description", .text(note))])
    }

    private static func schema(of kind: FieldKind) -> JSONValue {
        switch kind {
        case .text(let form): return schema(of: form)
        case .choice(let words):
            return ["type": "string", "enum": .list(words.map(JSONValue.text))]
        case .whole(let range):
            return [
                "type": "integer", "minimum": .number(range.lowerBound),
                "maximum": .number(range.upperBound),
            ]
        case .flag: return ["type": "boolean"]
        case .exactly(let flag):
            return ["type": "boolean", "const": .flag(flag)]
        case .list(let element, let counts):
            var members: [(String, JSONValue)] = [
                ("type", "array"), ("items", schema(of: element)),
                ("minItems", .number(Int64(counts.lowerBound))),
            ]
            if counts.upperBound < .max {
                members.append(("maxItems", .number(Int64(counts.upperBound))))
            }
            return .object(members)
        case .object(let shape): return reference(shape)
        }
    }

    private static func schema(of form: TextForm) -> JSONValue {
        var members: [(String, JSONValue)] = [("type", "string")]
        if let counts = form.counts {
            members.append(("minLength", .number(Int64(counts.lowerBound))))
            members.append(("maxLength", .number(Int64(counts.upperBound))))
        }
        if let pattern = form.pattern { members.append(("pattern", .text(pattern))) }
        if let format = form.format { members.append(("format", .text(format))) }
        if form != .any { members.append(("description", .text(form.expectation))) }
        return .object(members)
    }
}
