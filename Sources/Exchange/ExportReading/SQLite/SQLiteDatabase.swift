internal import CSQLite
internal import Exports
public import WatchwordCryptography
internal import WatchwordSystem

/// An SQLite database in memory, for reading tables.
///
/// The file may be hostile. Only names that the schema lists as ordinary tables are read, and only
/// their stored columns: triggers, views, virtual tables, generated columns, indexes and functions
/// are never evaluated.
public struct SQLiteDatabase {
    /// The tables in the order of the schema.
    public let tables: [SQLiteTable]
    private let connection: SQLiteConnection
    private let limits: SQLiteLimits

    /// Opens a copy of `file` and reads its schema.
    public init(
        _ file: SecretBytes, limits: SQLiteLimits = SQLiteLimits()
    ) throws(ContainerError) {
        self.limits = limits
        connection = try SQLiteConnection(copying: file, limits)
        tables = try connection.tables(limits)
    }

    /// The table with this name, in any case, if the schema lists it.
    public func table(named name: String) -> SQLiteTable? {
        tables.first { $0.name == name.lowercased() }
    }

    /// Reads the rows of a table in the order in which they are stored.
    ///
    /// - Parameter columns: Names in lower case; columns that the table does not have are null.
    public func rows(
        of table: String, columns: [String]
    ) throws(ContainerError) -> [SQLiteRow] {
        guard let table = self.table(named: table) else { throw .damaged }
        let present = columns.filter { table.columns.contains($0) }
        guard !present.isEmpty else { return [] }
        let names = present.map(quoted).joined(separator: ", ")
        var rows: [SQLiteRow] = []
        var length = 0
        let isComplete = try connection.query(
            "SELECT \(names) FROM \(quoted(table.name)) NOT INDEXED", limits
        ) { row throws(ContainerError) in
            guard rows.count < limits.rows else {
                throw .overLimit(
                    .rows, found: UInt64(limits.rows) + 1, allowed: UInt64(limits.rows))
            }
            var values: [SQLiteValue] = []
            for column in present.indices {
                let value = try row.value(Int32(column), limit: limits.valueLength)
                length += value.length
                guard length <= limits.totalLength else {
                    throw .overLimit(
                        .documentSize, found: UInt64(limits.totalLength) + 1,
                        allowed: UInt64(limits.totalLength))
                }
                values.append(value)
            }
            rows.append(SQLiteRow(columns: present, values: values))
        }
        guard isComplete else { throw .damaged }
        return rows
    }
}

/// A table of a database.
public struct SQLiteTable: Hashable, Sendable {
    /// The name in lower case.
    public let name: String
    /// The names of the stored columns in lower case.
    public let columns: Set<String>

    /// Whether the table has all these columns.
    public func has(_ columns: String...) -> Bool { self.columns.isSuperset(of: columns) }
}

extension SQLiteConnection {
    /// The ordinary tables.
    ///
    /// SQLite stores their definitions with the words CREATE TABLE in front, so the definitions of
    /// virtual tables are left out.
    fileprivate func tables(
        _ limits: SQLiteLimits
    ) throws(ContainerError) -> [SQLiteTable] {
        var names: [String] = []
        _ = try query(
            """
            SELECT name FROM sqlite_master
            WHERE type = 'table' AND rootpage > 0 AND substr(sql, 1, 13) = 'CREATE TABLE '
            """, limits
        ) { row throws(ContainerError) in
            // No app has so many tables.
            guard names.count < limits.tables else { throw .damaged }
            if let name = try row.value(0, limit: limits.valueLength).name { names.append(name) }
        }
        var tables: [SQLiteTable] = []
        for name in names {
            var columns: Set<String> = []
            // This pragma leaves out generated and hidden columns.
            _ = try query("PRAGMA table_info(\(quoted(name)))", limits) {
                row throws(ContainerError) in
                if let column = try row.value(1, limit: limits.valueLength).name {
                    columns.insert(column)
                }
            }
            tables.append(SQLiteTable(name: name, columns: columns))
        }
        return tables
    }
}

extension SQLiteValue {
    /// A name of the schema, which is not secret.
    ///
    /// SQLite ignores the case of ASCII letters.
    fileprivate var name: String? {
        guard case .text(let text) = self else { return nil }
        return text.withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) }?
            .lowercased()
    }

    fileprivate var length: Int {
        switch self {
        case .text(let bytes), .blob(let bytes): bytes.count
        case .tooLong(let length): length
        default: 8
        }
    }
}

private func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
        + "\""
}

/// A value of a row with the type that the database stores.
public enum SQLiteValue: Sendable {
    /// No value, or no such column.
    case null
    /// A whole number of at most 64 bits.
    case integer(Int64)
    /// A floating-point number of 64 bits.
    case real(Double)
    /// A text as UTF-8; invalid text is returned unchanged.
    case text(SecretBytes)
    /// A blob: bytes without an encoding.
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

/// Limits for a database.
public struct SQLiteLimits: Hashable, Sendable {
    /// The maximum number of tables.
    public let tables: Int
    /// The maximum number of rows that are read from one table.
    public let rows: Int
    /// The maximum length of one value in bytes; longer values are
    /// ``SQLiteValue/tooLong(length:)``.
    public let valueLength: Int
    /// The maximum length of all values that are read from one table, in bytes.
    public let totalLength: Int
    /// The maximum time for each table.
    public let time: Duration

    /// Combines the limits; the defaults are those for another app's export.
    public init(
        tables: Int = 1_000, rows: Int = 20_000, valueLength: Int = 1 << 20,
        totalLength: Int = 128 << 20, time: Duration = .seconds(10)
    ) {
        self.tables = tables
        self.rows = rows
        self.valueLength = valueLength
        self.totalLength = totalLength
        self.time = time
    }
}
