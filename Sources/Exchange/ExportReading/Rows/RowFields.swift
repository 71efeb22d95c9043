internal import Exports
internal import JSONReading
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// The named values of one row: the members of a JSON object, or the columns of a database.
///
/// `null` is the same as an absent value. A value of a different type leads to the refusal of the
/// row, not of the file.
protocol RowFields {
    /// A value that is not `null`.
    func value(_ name: String) throws(ExportRowRefusal) -> JSONValue?
}

extension RowFields {
    /// Whether there is a value with this name.
    func has(_ name: String?) throws(ExportRowRefusal) -> Bool {
        guard let name else { return false }
        return try value(name) != nil
    }

    /// A text that is not secret; empty if absent.
    func text(_ name: String) throws(ExportRowRefusal) -> String {
        guard let value = try value(name) else { return "" }
        guard let text = value.string else { throw .malformed }
        return text
    }

    /// A text that is secret.
    func secret(_ name: String) throws(ExportRowRefusal) -> SecretBytes? {
        guard let value = try value(name) else { return nil }
        guard let text = value.secretText else { throw .malformed }
        return text
    }

    /// A number; its use decides whether a fraction matters.
    func number(_ name: String) -> ExportRow.Number {
        do {
            return switch try value(name) {
            case nil: .absent
            case .number(let number)?: .value(number)
            case .counter(let number)?: .large(number)
            default: .malformed
            }
        } catch {
            return .malformed
        }
    }

    /// A number that the app writes as text, which is absent if empty.
    func numberText(_ name: String) throws(ExportRowRefusal) -> ExportRow.Number {
        guard let text = try value(name)?.string else { return number(name) }
        return ExportRow.Number(text)
    }

    /// The element of `choices` that a number stands for; the first if absent, `nil` if there is
    /// none.
    func choice<Choice>(_ name: String, of choices: [Choice]) -> Choice? {
        switch number(name) {
        case .absent: choices.first
        case .value(let number):
            Int(exactly: number).flatMap { choices.indices.contains($0) ? choices[$0] : nil }
        case .large, .malformed: nil
        }
    }

    /// A Boolean; `false` if absent.
    func flag(_ name: String) throws(ExportRowRefusal) -> Bool {
        guard let value = try value(name) else { return false }
        guard let flag = value.truth else { throw .malformed }
        return flag
    }

    /// A list; empty if absent.
    func list(_ name: String) throws(ExportRowRefusal) -> [JSONValue] {
        guard let value = try value(name) else { return [] }
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
        guard try has(name) else { return nil }
        guard let bytes = try list(name).bytes else { throw .badSecret }
        return bytes
    }
}

extension [JSONValue] {
    /// The bytes that are written as signed or unsigned numbers, or `nil` for anything else.
    var bytes: SecretBytes? {
        var isValid = true
        let bytes = SecretBytes(capacity: count) { output in
            for element in self {
                guard case .number(let number) = element, (-128...255).contains(number) else {
                    isValid = false
                    return
                }
                output.append(UInt8(truncatingIfNeeded: number))
            }
        }
        return isValid ? bytes : nil
    }
}

/// The members of a JSON object; `info.secret` is the member `secret` of the object `info`.
struct JSONFields: RowFields {
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

    func value(_ path: String) throws(ExportRowRefusal) -> JSONValue? {
        guard let point = path.firstIndex(of: ".") else { return self[path] }
        guard let inner = self[String(path[..<point])] else { return nil }
        return try JSONFields(inner).value(String(path[path.index(after: point)...]))
    }
}

extension SQLiteRow: RowFields {
    func value(_ column: String) throws(ExportRowRefusal) -> JSONValue? {
        switch self[column] {
        case .null: nil
        case .integer(let number): .number(number)
        case .text(let text): .secret(text)
        // No column that is read contains these.
        case .real, .blob: .otherNumber
        case .tooLong: throw .tooLong
        }
    }

    /// The row as a JSON object whose members have the columns' names, with capitals.
    func object(_ names: [String]) -> JSONValue {
        .object(names.map { ($0, self[$0.asciiLowercased].json) })
    }
}

extension SQLiteValue {
    fileprivate var json: JSONValue {
        switch self {
        case .integer(let number): .number(number)
        case .text(let text): .secret(text)
        // No column that is read contains real numbers or blobs.
        case .null, .real, .blob: .null
        // An empty list leads to the refusal of the row, because no member of a row is a list.
        case .tooLong: .list([])
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

/// The names of groups, folders or categories, by their identifiers.
struct GroupNames {
    private var names: [String: String] = [:]

    /// Reads a list of objects; those without an identifier or a name are left out.
    init(_ list: JSONValue?, id: String, name: String) {
        for group in list?.elements ?? [] {
            guard let id = group[id].flatMap(Self.key), let name = group[name]?.string else {
                continue
            }
            names[id] = name
        }
    }

    /// The names of the groups that exist.
    func names(of ids: [String]) -> [String] { ids.compactMap { names[$0] } }

    /// The names of the groups that exist; an identifier is a text or a number.
    func names(of ids: [JSONValue]) -> [String] {
        ids.compactMap { Self.key($0) }.compactMap { names[$0] }
    }

    private static func key(_ id: JSONValue) -> String? {
        if case .number(let number) = id { return String(number) }
        return id.string
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

extension ExportFormat {
    /// Decrypts an export of this format, and reads the JSON in it.
    ///
    /// - Parameter open: decrypts it with the password.
    func decrypted<Encrypted>(
        _ export: Encrypted, _ password: SecretBytes?,
        _ open: (Encrypted, SecretBytes) throws(ExportError) -> SecretBytes
    ) throws(ExportError) -> JSONValue {
        guard let password else { throw .passwordNeeded(self) }
        return try readExportJSON(try open(export, password), self)
    }
}
