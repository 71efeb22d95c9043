/// The schema of a JSON object of the API; unknown fields are not permitted.
///
/// The same value validates a body and describes it in OpenAPI, so the two cannot disagree.
struct Shape: Sendable {
    /// The name of the schema in OpenAPI.
    let name: String
    /// The fields, in the order of the description.
    let fields: [Field]

    init(_ name: String, _ fields: [Field]) {
        self.name = name
        self.fields = fields
    }
}

/// A field of an object.
struct Field: Sendable {
    let name: String
    let kind: FieldKind
    let isRequired: Bool

    static func required(_ name: String, _ kind: FieldKind) -> Field {
        Field(name: name, kind: kind, isRequired: true)
    }

    /// A field that may be omitted; it is never `null`.
    static func optional(_ name: String, _ kind: FieldKind) -> Field {
        Field(name: name, kind: kind, isRequired: false)
    }
}

/// The type of a field.
indirect enum FieldKind: Sendable {
    /// A text of this form.
    case text(TextForm)
    /// One of these words.
    case choice([String])
    /// An integer in this range.
    case whole(ClosedRange<Int64>)
    /// True or false.
    case flag
    /// Exactly this boolean.
    case exactly(Bool)
    /// A list with this many elements.
    case list(FieldKind, counts: ClosedRange<Int>)
    /// An object.
    case object(Shape)
}

/// The shapes that a route accepts.
enum BodyShape: Sendable {
    /// One shape.
    case one(Shape)
    /// A shape for each value of the field `type`.
    case byType([(type: String, shape: Shape)])

    var shapes: [Shape] {
        switch self {
        case .one(let shape): [shape]
        case .byType(let shapes): shapes.map(\.shape)
        }
    }
}
