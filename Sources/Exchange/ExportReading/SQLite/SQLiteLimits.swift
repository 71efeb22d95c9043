/// Limits for a database.
public struct SQLiteLimits: Hashable, Sendable {
    /// The maximum number of tables.
    public let tables: Int
    /// The maximum number of rows that are read from one table.
    public let rows: Int
    /// The maximum length of one value in bytes; longer ones are ``SQLiteValue/tooLong(length:)``.
    public let valueLength: Int
    /// The maximum length of all values that are read from one table, in bytes.
    public let totalLength: Int
    /// The maximum time for each table.
    public let time: Duration

    /// Creates limits; the defaults are those for another app's export.
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
