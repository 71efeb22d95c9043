/// What a JSON object of the interface looks like: closed, every field named.
///
/// The same value reads a body and describes it in OpenAPI, so that neither can say what the other
/// does not know.
struct Shape: Sendable {
    /// What it is called in OpenAPI.
    let name: String
    /// Its fields, in the order in which they are said.
    let fields: [Field]

    init(_ name: String, _ fields: [Field]) {
        self.name = name
        self.fields = fields
    }
}

/// A field of an object.
struct Field: Sendable {
    /// Its name.
    let name: String
    /// What it holds.
    let kind: FieldKind
    /// Whether it has to be there.
    let isRequired: Bool

    /// A field that has to be there.
    static func required(_ name: String, _ kind: FieldKind) -> Field {
        Field(name: name, kind: kind, isRequired: true)
    }

    /// A field that may be left out; it is never null.
    static func optional(_ name: String, _ kind: FieldKind) -> Field {
        Field(name: name, kind: kind, isRequired: false)
    }
}

/// What a field can hold.
indirect enum FieldKind: Sendable {
    /// A text of this form.
    case text(TextForm)
    /// One of these words.
    case choice([String])
    /// A whole number in this range.
    case whole(ClosedRange<Int64>)
    /// True or false.
    case flag
    /// This one of the two.
    case exactly(Bool)
    /// A list of so many.
    case list(FieldKind, counts: ClosedRange<Int>)
    /// An object.
    case object(Shape)
}

/// What a body can look like.
enum BodyShape: Sendable {
    /// One shape.
    case one(Shape)
    /// A shape for each value of the field `type`.
    case byType([(type: String, shape: Shape)])

    /// All shapes.
    var shapes: [Shape] {
        switch self {
        case .one(let shape): [shape]
        case .byType(let shapes): shapes.map(\.shape)
        }
    }
}
