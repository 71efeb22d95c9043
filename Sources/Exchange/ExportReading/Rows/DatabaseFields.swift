internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// The columns of a database's row, read for one row of the export.
extension SQLiteRow {
    /// A text that is not secret; empty if null.
    func text(_ column: String) throws(ExportRowRefusal) -> String {
        guard let text = try secret(column) else { return "" }
        guard let text = text.decodedText() else { throw .malformed }
        return text
    }

    /// A text that is secret.
    func secret(_ column: String) throws(ExportRowRefusal) -> SecretBytes? {
        switch self[column] {
        case .null: return nil
        case .text(let text): return text
        case .tooLong: throw .tooLong
        default: throw .malformed
        }
    }

    /// A Base32 secret; none if null.
    func base32(_ column: String) throws(ExportRowRefusal) -> ExportRow.Secret {
        guard let text = try secret(column) else { return .none }
        return .base32(text)
    }

    /// A number.
    func number(_ column: String) -> ExportRow.Number {
        switch self[column] {
        case .null: .absent
        case .integer(let number): .value(number)
        default: .malformed
        }
    }

    /// The row as a JSON object whose members have the names that `names` states for the columns.
    func object(_ names: [(column: String, member: String)]) -> JSONValue {
        .object(names.map { ($0.member, self[$0.column].json) })
    }
}

extension SQLiteValue {
    fileprivate var json: JSONValue {
        switch self {
        case .integer(let number): .number(number)
        case .text(let text): .secret(text)
        // No column that is read contains real numbers or blobs.
        case .null, .real, .blob: .null
        // An empty list refuses the row, because no member of a row is a list.
        case .tooLong: .list([])
        }
    }
}
