internal import WatchwordCryptography
internal import Exports
internal import JSONReading
internal import WatchwordCoding

/// The members of a JSON object, read for one row.
///
/// `null` is the same as an absent member. A member of another type refuses the row, not the file.
struct JSONFields {
    private let members: [(String, JSONValue)]

    init(_ value: JSONValue) throws(ExportRowRefusal) {
        guard let members = value.members else { throw .malformed }
        self.members = members
    }

    /// A member that is not `null`.
    subscript(name: String) -> JSONValue? {
        guard let value = members.first(where: { $0.0 == name })?.1 else { return nil }
        if case .null = value { return nil }
        return value
    }

    /// A text that is not secret; empty if absent.
    func text(_ name: String) throws(ExportRowRefusal) -> String {
        guard let value = self[name] else { return "" }
        guard let text = value.string else { throw .malformed }
        return text
    }

    /// A text that is secret.
    func secret(_ name: String) throws(ExportRowRefusal) -> SecretBytes? {
        guard let value = self[name] else { return nil }
        guard let text = value.secretText else { throw .malformed }
        return text
    }

    /// A Base32 secret; none if absent.
    func base32(_ name: String) throws(ExportRowRefusal) -> ExportRow.Secret {
        guard let text = try secret(name) else { return .none }
        return .base32(text)
    }

    /// A number; its use decides whether one that is not whole matters.
    func number(_ name: String) -> ExportRow.Number {
        switch self[name] {
        case nil: .absent
        case .number(let number)?: .value(number)
        case .counter(let number)?: .large(number)
        default: .malformed
        }
    }

    /// A number that the app writes as text, which is absent if empty.
    func numberText(_ name: String) -> ExportRow.Number {
        guard let text = self[name]?.string else { return number(name) }
        return ExportRow.Number(text)
    }

    /// A Boolean; `false` if absent.
    func flag(_ name: String) throws(ExportRowRefusal) -> Bool {
        guard let value = self[name] else { return false }
        guard let flag = value.truth else { throw .malformed }
        return flag
    }

    /// An object.
    func fields(_ name: String) throws(ExportRowRefusal) -> JSONFields? {
        guard let value = self[name] else { return nil }
        return try JSONFields(value)
    }

    /// A list; empty if absent.
    func list(_ name: String) throws(ExportRowRefusal) -> [JSONValue] {
        guard let value = self[name] else { return [] }
        guard let elements = value.elements else { throw .malformed }
        return elements
    }

    /// A list of texts that are not secret; empty if absent.
    func texts(_ name: String) throws(ExportRowRefusal) -> [String] {
        var texts: [String] = []
        for element in try list(name) {
            guard let text = element.string else { throw .malformed }
            texts.append(text)
        }
        return texts
    }

    /// Bytes that are written as a list of signed or unsigned numbers.
    func bytes(_ name: String) throws(ExportRowRefusal) -> SecretBytes? {
        guard self[name] != nil else { return nil }
        let elements = try list(name)
        return try SecretBytes(capacity: elements.count) { output throws(ExportRowRefusal) in
            for element in elements {
                guard case .number(let number) = element, (-128...255).contains(number) else {
                    throw .badSecret
                }
                output.append(UInt8(truncatingIfNeeded: number))
            }
        }
    }
}

extension ExportRow.Number {
    /// Reads decimal digits with an optional minus; an empty text is absent.
    init(_ text: String) {
        if text.isEmpty {
            self = .absent
        } else if let value = Int64(text), !text.hasPrefix("+") {
            self = .value(value)
        } else if let value = UInt64(text), !text.hasPrefix("+") {
            self = .large(value)
        } else {
            self = .malformed
        }
    }
}

/// Reads the JSON of an export.
func readExportJSON(_ text: SecretBytes, _ format: ExportFormat?) throws(ExportError) -> JSONValue {
    let limits = ExportLimits.current
    do {
        return try readJSON(
            text, limits: JSONLimits(bytes: limits.bytes, depth: 64, values: limits.values),
            content: .any)
    } catch {
        switch error {
        case .tooLong(let limit):
            throw .overLimit(
                format, .documentSize, found: UInt64(text.count), allowed: UInt64(limit))
        case .tooDeep(let limit):
            throw .overLimit(format, .depth, found: UInt64(limit) + 1, allowed: UInt64(limit))
        case .tooManyValues(let limit):
            throw .overLimit(format, .rows, found: UInt64(limit) + 1, allowed: UInt64(limit))
        case .noMemory: throw .outOfMemory
        default: throw format.map { .damaged($0) } ?? .notJSON
        }
    }
}
