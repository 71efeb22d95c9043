internal import WatchwordCoding

/// The schema of a JSON object of the API; unknown fields are not permitted, except in objects that
/// browsers make.
///
/// The same value validates a body and describes the body in OpenAPI, so the two cannot disagree.
struct Shape: Sendable {
    /// The name of the schema in OpenAPI.
    let name: String
    /// The fields, in the order of the description.
    let fields: [Field]
    /// Whether other fields are permitted, because a later version of a browser may add some.
    let isOpen: Bool

    init(_ name: String, _ fields: [Field], isOpen: Bool = false) {
        self.name = name
        self.fields = fields
        self.isOpen = isOpen
    }

    /// Whether the object contains an object in which other fields are permitted.
    var containsOpenObject: Bool {
        fields.contains { field in
            guard case .object(let inner) = field.kind else { return false }
            return inner.isOpen || inner.containsOpenObject
        }
    }

    /// The scope that the shape requires in addition to the route's.
    var scope: Scope? { fields.lazy.compactMap(\.scope).first }

    /// Whether an object with these members is meant to have this shape.
    ///
    /// This is always true of a shape without a scope. Otherwise the object must have at least one
    /// of the fields that require the scope, and all required fields among them.
    func isMeant(by members: [(String, JSONValue)]) -> Bool {
        let scoped = fields.filter { $0.scope != nil }
        let present = scoped.filter { field in members.contains { $0.0 == field.name } }
        let isComplete = scoped.allSatisfy { field in
            !field.isRequired || present.contains { $0.name == field.name }
        }
        return scoped.isEmpty || !present.isEmpty && isComplete
    }
}

/// A field of an object.
struct Field: Sendable {
    let name: String
    let kind: FieldKind
    let isRequired: Bool
    /// The scope that the field requires in addition to the route's.
    var scope: Scope?
    /// The condition under which a response has the field, or the field's meaning, for OpenAPI.
    var note: String?

    static func required(_ name: String, _ kind: FieldKind) -> Field {
        Field(name: name, kind: kind, isRequired: true)
    }

    /// A field that may be omitted; it is never `null`.
    static func optional(_ name: String, _ kind: FieldKind) -> Field {
        Field(name: name, kind: kind, isRequired: false)
    }

    /// The same field, but only for clients that also have this scope.
    func requiring(_ scope: Scope) -> Field {
        Field(name: name, kind: kind, isRequired: isRequired, scope: scope)
    }

    /// The same field with a note for OpenAPI.
    func noting(_ note: String) -> Field {
        Field(name: name, kind: kind, isRequired: isRequired, scope: scope, note: note)
    }
}

/// The type of a field.
indirect enum FieldKind: Sendable {
    /// A text of this form.
    case text(TextForm)
    /// One of the given words.
    case choice([String])
    /// An integer in this range.
    case whole(ClosedRange<Int64>)
    /// A Boolean value.
    case flag
    /// Only the given Boolean value.
    case exactly(Bool)
    /// A list with this many elements.
    case list(FieldKind, counts: ClosedRange<Int>)
    /// An object of the given shape.
    case object(Shape)
}

extension FieldKind {
    /// A description of the permitted values, for problems.
    var expectation: String {
        switch self {
        case .text(let form): form.expectation
        case .choice(let words):
            words.count == 1 ? words[0] : "one of \(words.joined(separator: ", "))"
        case .whole(let range) where range.upperBound == .max:
            "a whole number from \(range.lowerBound)"
        case .whole(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .exactly(let flag): "\(flag)"
        case .list(_, let counts):
            counts.count == 1
                ? "a list of \(counts.lowerBound)"
                : "a list of \(counts.lowerBound) to \(counts.upperBound)"
        case .object: "an object"
        }
    }
}

/// The shapes that a route accepts.
enum BodyShape: Sendable {
    /// The only shape of a body.
    case one(Shape)
    /// One or more shapes for each value of the field `type`.
    ///
    /// If a value has several shapes, the last shape that the object is meant to have is used
    /// (``Shape/isMeant(by:)``).
    case byType([(type: String, shape: Shape)])

    var shapes: [Shape] {
        switch self {
        case .one(let shape): [shape]
        case .byType(let shapes): shapes.map(\.shape)
        }
    }

    /// The values of the field `type`, without duplicates.
    var types: [String] {
        guard case .byType(let shapes) = self else { return [] }
        return shapes.map(\.type).reduce(into: []) { types, type in
            if !types.contains(type) { types.append(type) }
        }
    }
}

// The fields that several shapes share.
extension Field {
    static let credential = required("credential", .text(.credential))
    static let subject = required("subject", .text(.subject))
    static let verification = required("verification", .text(.verification))
    static let ticket = required("ticket", .text(.enrolmentTicket))
    static let login = required("login", .text(.loginTicket))
    static let accepted = required("result", .choice(["accepted"]))
    static let denied = required("result", .choice(["denied"]))
    static let pending = required("state", .choice(["pending"]))
    static let expiry = required("expires_at", .text(.time))
    static let label = optional("name", .text(.label))
    static let userAgent = optional("user_agent", .text(.userAgent))
    /// The token of a device that is known from now on.
    static let device = optional("device", .text(.knownDevice))
}
