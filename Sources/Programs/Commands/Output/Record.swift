import CommandLineInterface
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// The named fields of a result, in the order in which JSON has them.
///
/// A command builds a record once; the session prints it as JSON, or in words.
typealias Record = [(String, JSONValue)]

extension Record {
    /// The same fields, sorted by name.
    var byName: Record { sorted { $0.0 < $1.0 } }

    /// The fields of `all` in their order, followed by this record's other fields; a missing field
    /// gets the value in `all`.
    ///
    /// An object in JSON has every field of its kind, so that scripts need not test for a field.
    func filling(_ all: Record) -> Record {
        let others = filter { field in !all.contains { $0.0 == field.0 } }
        return all.map { name, value in (name, first { $0.0 == name }?.1 ?? value) } + others
    }

    /// The record with `null` for each missing field in `names`.
    func filling(_ names: [String]) -> Record { filling(names.map { ($0, .null) }) }
}

extension Session {
    /// Prints the record with `--json`, and otherwise `line`.
    func print(
        _ record: @autoclosure () -> Record, orLine line: @autoclosure () -> String
    ) throws {
        try wantsJSON ? printer.line(.object(record())) : printer.line(line())
    }

    /// Prints the record with `--json`, and otherwise the secret on a separate line.
    func print(
        _ record: @autoclosure () -> Record, orSecret secret: @autoclosure () -> SecretBytes
    ) throws {
        try wantsJSON ? printer.line(.object(record())) : printer.line(secret())
    }

    /// Prints the record with `--json`, and otherwise `note` as a message.
    func print(
        _ record: @autoclosure () -> Record, orNote note: @autoclosure () -> String
    ) throws {
        guard !wantsJSON else { return try printer.line(.object(record())) }
        printer.note(note())
    }

    /// Prints the record with `--json`, and otherwise each field on a separate line.
    ///
    /// - Parameters:
    ///   - width: the columns for a name.
    ///   - text: the text for a field; `nil` to leave it out.
    func print(
        _ record: Record, width: Int, text: (String, JSONValue) -> String? = { $1.visible }
    ) throws {
        guard !wantsJSON else { return try printer.line(.object(record)) }
        for (name, value) in record {
            guard let text = text(name, value) else { continue }
            let padding = String(repeating: " ", count: max(width - name.count, 1))
            try printer.line(name + padding + text)
        }
    }
}

extension JSONValue {
    /// The value as text that is safe for a terminal; `nil` for a value that is only printed as
    /// JSON.
    var visible: String? {
        switch self {
        case .text(let text): VisibleText.of(text)
        case .flag(let flag): flag ? "yes" : "no"
        case .number(let number): String(number)
        case .counter(let counter): String(counter)
        case .list(let values) where !values.isEmpty:
            values.compactMap(\.visible).joined(separator: ", ")
        default: nil
        }
    }
}
