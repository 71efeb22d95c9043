internal import JSONReading
internal import PasskeyVerification
internal import WatchwordCoding
internal import WatchwordCryptography

/// The fields of a validated body or query.
struct BodyFields: Sendable {
    private let members: [(String, JSONValue)]
    /// The scope that the body requires in addition to the route's, and that the client has.
    let scope: Scope?

    /// The fields for routes without a body.
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
        let shape = try Self.shape(of: value, members, among: expected, in: body)
        if let scope = shape.scope, !permits(scope) { throw Refusal(.missingScope(scope)) }
        if let fault = Self.fault(in: members, shape, at: .body) {
            throw Refusal(fault.problem(in: body))
        }
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
            case .duplicateName(let end):
                let name = body.places(before: end).last
                let fault = FieldFault(name?.place.field, at: name?.position ?? end)
                throw Refusal(.doubledField(fault))
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
        of value: JSONValue, _ members: [(String, JSONValue)], among expected: BodyShape,
        in body: SecretBytes
    ) throws(Refusal) -> Shape {
        switch expected {
        case .one(let shape): return shape
        case .byType(let shapes):
            let types = FieldKind.choice(expected.types)
            guard let ordinal = members.firstIndex(where: { $0.0 == "type" }) else {
                let fault = FieldFault("type", expected: types.expectation)
                throw Refusal(.missingField(fault))
            }
            let type = members[ordinal].1.string
            guard
                let found = shapes.last(where: { $0.type == type && $0.shape.isMeant(by: members) })
            else {
                let place = BodyPlace.body.member("type", at: ordinal)
                throw Refusal(BodyFault(.invalid, place, types.expectation).problem(in: body))
            }
            return found.shape
        }
    }

    /// The first fault of an object; `nil` if the object has the shape.
    private static func fault(
        in members: [(String, JSONValue)], _ shape: Shape, at place: BodyPlace
    ) -> BodyFault? {
        for (ordinal, (name, value)) in members.enumerated() {
            guard let field = shape.fields.first(where: { $0.name == name }) else {
                if shape.isOpen { continue }
                let names = FieldKind.choice(shape.fields.map(\.name))
                return BodyFault(
                    .unknown, place.member(repeatableName(name), at: ordinal), names.expectation)
            }
            let fault = Self.fault(in: value, field.kind, at: place.member(name, at: ordinal))
            if let fault { return fault }
        }
        let missing = shape.fields.first { field in
            field.isRequired && !members.contains { $0.0 == field.name }
        }
        return missing.map { BodyFault(.missing, place.missing($0.name), $0.kind.expectation) }
    }

    private static func fault(
        in value: JSONValue, _ kind: FieldKind, at place: BodyPlace
    ) -> BodyFault? {
        switch kind {
        case .list(let element, let counts):
            guard let elements = value.elements, counts.contains(elements.count) else { break }
            for (ordinal, value) in elements.enumerated() {
                let fault = Self.fault(in: value, element, at: place.element(ordinal))
                if let fault { return fault }
            }
            return nil
        case .object(let shape):
            guard let members = value.members else { break }
            return fault(in: members, shape, at: place)
        default: if accepts(value, kind) { return nil }
        }
        return BodyFault(.invalid, place, kind.expectation)
    }

    /// Whether a value that contains no others has this kind.
    private static func accepts(_ value: JSONValue, _ kind: FieldKind) -> Bool {
        switch kind {
        case .text(let form): return value.secretText.map(form.accepts) ?? false
        case .choice(let words): return value.string.map(words.contains) ?? false
        case .whole(let range):
            guard case .number(let number) = value else { return false }
            return range.contains(number)
        case .flag: return value.truth != nil
        case .exactly(let flag): return value.truth == flag
        case .list, .object: return false
        }
    }

    // A body has few members, and no duplicate names.
    private func value(_ name: String) -> JSONValue? { members.first { $0.0 == name }?.1 }

    /// A text that is not secret.
    func string(_ name: String) -> String? { value(name)?.string }

    /// A text that may be a secret.
    func secret(_ name: String) -> SecretBytes? { value(name)?.secretText }

    /// The value of a Boolean field.
    func flag(_ name: String) -> Bool? { value(name)?.truth }

    /// The value of an integer field.
    func whole(_ name: String) -> Int64? {
        guard case .number(let number)? = value(name) else { return nil }
        return number
    }

    /// The members of an object field.
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
