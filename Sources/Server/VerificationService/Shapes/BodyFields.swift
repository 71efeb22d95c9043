internal import JSONReading
internal import PasskeyVerification
internal import WatchwordCoding
internal import WatchwordCryptography

/// The fields of a validated body or query.
struct BodyFields: Sendable {
    private let members: [(String, JSONValue)]
    /// The scope that the body requires in addition to the route's, and that the client has.
    let scope: Scope?

    /// For routes without a body.
    static let none = BodyFields(members: [], scope: nil)

    private init(members: [(String, JSONValue)], scope: Scope?) {
        self.members = members
        self.scope = scope
    }

    /// Parses a body strictly.
    ///
    /// Rejects unknown fields, duplicate names, `null` and malformed texts. A client without the
    /// scope of a shape learns nothing about its fields.
    ///
    /// - Parameter permits: whether the client has a scope.
    init(
        _ body: SecretBytes, as expected: BodyShape, permits: (Scope) -> Bool = { _ in true }
    ) throws(Refusal) {
        let isOpen = expected.shapes.contains(where: \.containsOpenObject)
        let value = try Self.parsed(body, isOpen: isOpen)
        guard let members = value.members else { throw Refusal(.malformedBody(at: nil)) }
        let shape = try Self.shape(of: value, members, among: expected)
        if let scope = shape.scope, !permits(scope) { throw Refusal(.missingScope(scope)) }
        try Self.check(members, shape)
        self.init(members: members, scope: shape.scope)
    }

    /// - Parameter isOpen: whether the body contains an object in which a browser may use any JSON.
    private static func parsed(
        _ body: SecretBytes, isOpen: Bool
    ) throws(Refusal) -> JSONValue {
        do throws(JSONReadingError) {
            return try isOpen
                ? readJSON(body, limits: .browser, content: .any) : readJSON(body)
        } catch {
            switch error {
            case .tooLong: throw Refusal(.bodyTooLarge)
            case .syntax(let position), .trailing(let position), .notUTF8(let position),
                .nul(let position):
                throw Refusal(.malformedBody(at: position))
            case .duplicateName(let position): throw Refusal(.doubledField(at: position))
            case .incomplete, .tooDeep, .tooManyValues, .notWhole:
                throw Refusal(.malformedBody(at: nil))
            case .noMemory: throw Refusal(.failed)
            }
        }
    }

    /// Parses the parameters of a query strictly.
    init(query: [(name: String, value: String)], as fields: [Field]) throws(Refusal) {
        var members: [(String, JSONValue)] = []
        for (name, text) in query {
            guard let field = fields.first(where: { $0.name == name }),
                !members.contains(where: { $0.0 == name }),
                let value = Self.value(text, as: field.kind)
            else { throw Refusal(.malformedQuery) }
            members.append((name, value))
        }
        self.init(members: members, scope: nil)
    }

    /// The value of a parameter, which is an integer or a text; `nil` if it is malformed.
    private static func value(_ text: String, as kind: FieldKind) -> JSONValue? {
        var value = JSONValue.text(text)
        if case .whole = kind {
            guard let number = Int64(text), String(number) == text else { return nil }
            value = .number(number)
        }
        return accepts(value, kind) ? value : nil
    }

    private static func shape(
        of value: JSONValue, _ members: [(String, JSONValue)], among expected: BodyShape
    ) throws(Refusal) -> Shape {
        switch expected {
        case .one(let shape): return shape
        case .byType(let shapes):
            guard let member = value["type"] else { throw Refusal(.missingField("type")) }
            guard let type = member.string,
                let found = shapes.last(where: { $0.type == type && $0.shape.isMeant(by: members) })
            else { throw Refusal(.invalidField("type")) }
            return found.shape
        }
    }

    private static func check(
        _ members: [(String, JSONValue)], _ shape: Shape
    ) throws(Refusal) {
        for (name, value) in members {
            guard let field = shape.fields.first(where: { $0.name == name }) else {
                if shape.isOpen { continue }
                throw Refusal(.unknownField)
            }
            guard accepts(value, field.kind) else { throw Refusal(.invalidField(name)) }
        }
        for field in shape.fields where field.isRequired {
            guard members.contains(where: { $0.0 == field.name }) else {
                throw Refusal(.missingField(field.name))
            }
        }
    }

    private static func accepts(_ value: JSONValue, _ kind: FieldKind) -> Bool {
        switch kind {
        case .text(let form): return value.secretText.map(form.accepts) ?? false
        case .choice(let words): return value.string.map(words.contains) ?? false
        case .whole(let range):
            guard case .number(let number) = value else { return false }
            return range.contains(number)
        case .flag: return value.truth != nil
        case .exactly(let flag): return value.truth == flag
        case .list(let element, let counts):
            guard let elements = value.elements, counts.contains(elements.count) else {
                return false
            }
            return elements.allSatisfy { accepts($0, element) }
        case .object(let shape):
            guard let members = value.members else { return false }
            do throws(Refusal) {
                try check(members, shape)
                return true
            } catch { return false }
        }
    }

    // A body has few members, and no duplicate names.
    private func value(_ name: String) -> JSONValue? { members.first { $0.0 == name }?.1 }

    /// A text that is not secret.
    func string(_ name: String) -> String? { value(name)?.string }

    /// A text that may be a secret.
    func secret(_ name: String) -> SecretBytes? { value(name)?.secretText }

    /// A boolean.
    func flag(_ name: String) -> Bool? { value(name)?.truth }

    /// An integer.
    func whole(_ name: String) -> Int64? {
        guard case .number(let number)? = value(name) else { return nil }
        return number
    }

    /// An object.
    func object(_ name: String) -> JSONValue? {
        value(name).flatMap { $0.members == nil ? nil : $0 }
    }

    /// A list of texts that are not secret.
    func strings(_ name: String) -> [String]? { value(name)?.elements?.compactMap(\.string) }

    /// A list of texts that may be secrets.
    func secrets(_ name: String) -> [SecretBytes]? {
        value(name)?.elements?.compactMap(\.secretText)
    }
}
