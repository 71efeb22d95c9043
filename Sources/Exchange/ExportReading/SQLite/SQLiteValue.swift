public import WatchwordCryptography

/// A value of a row with the type that the database stores.
public enum SQLiteValue: Sendable {
    /// No value, or no such column.
    case null
    /// A whole number.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A text as UTF-8; an invalid one is returned as it is.
    case text(SecretBytes)
    /// Bytes.
    case blob(SecretBytes)
    /// A text or a blob that exceeds the limit.
    case tooLong(length: Int)
}

/// A row with the columns that were asked for.
public struct SQLiteRow: Sendable {
    private let columns: [String]
    private let values: [SQLiteValue]

    init(columns: [String], values: [SQLiteValue]) {
        self.columns = columns
        self.values = values
    }

    /// The value of a column; null if the table does not have it.
    public subscript(column: String) -> SQLiteValue {
        columns.firstIndex(of: column).map { values[$0] } ?? .null
    }
}
