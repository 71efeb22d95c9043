internal import WatchwordCryptography

/// A row that is authenticated as a whole, so that without the key nobody can change a column or
/// move the row.
public protocol StoredRow: Sendable {
    /// The name of its table.
    static var table: String { get }
    /// Its primary key.
    var primaryKey: [UInt8] { get }
    /// The name of the row's table, followed by every column.
    ///
    /// No two rows have the same bytes.
    var authenticatedBytes: [UInt8] { get }
    /// The authenticated bytes of the row that a store may derive from this one without the key;
    /// `nil` if there is no such row.
    var authenticatedBytesOnceEnded: [UInt8]? { get }
}

extension StoredRow {
    /// By default `nil`: most rows are written only with the key.
    public var authenticatedBytesOnceEnded: [UInt8]? { nil }
}

extension AuditKey {
    /// The number of bytes in a row's authentication code.
    public static let rowCodeCount = 16

    /// The authentication code that a store keeps with a row, followed by the code of the same row
    /// without its response, if it has one.
    public func code(of row: some StoredRow) -> [UInt8] {
        let code = code(of: row.authenticatedBytes)
        guard let ended = row.authenticatedBytesOnceEnded else { return code }
        return code + self.code(of: ended)
    }

    /// Checks whether a row was written with this key.
    public func isAuthentic(_ row: some StoredRow, by code: [UInt8]) -> Bool {
        let expected = self.code(of: row)
        return isEqualInConstantTime(expected.span, code.span)
    }

    /// Does the work of checking a typical row.
    ///
    /// Call this if no row was found, so that the response time does not reveal it (V-06).
    public func checkDummy() {
        _ = code(of: [UInt8](repeating: 0, count: Self.typicalRowCount))
    }

    private static let typicalRowCount = 320

    private func code(of bytes: [UInt8]) -> [UInt8] {
        var code = rows.authenticationCode(of: bytes.span)
        code.removeLast(code.count - Self.rowCodeCount)
        return code
    }
}

/// A number that a database stores about itself.
public struct SettingRow: StoredRow {
    /// The name of its table.
    public static let table = "settings"

    /// The primary key.
    public let name: String
    /// The number.
    public let value: Int64
    /// The digest of the database's last event, so that the row is not valid in another state.
    public let lastEvent: [UInt8]

    /// Creates a row from its stored columns.
    public init(name: String, value: Int64, lastEvent: [UInt8]) {
        self.name = name
        self.value = value
        self.lastEvent = lastEvent
    }

    /// Its primary key.
    public var primaryKey: [UInt8] { Array(name.utf8) }

    /// Every column, and the state that the row is bound to.
    public var authenticatedBytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.table)
        writer.write(name)
        writer.write(value)
        writer.write(lastEvent)
        return writer.bytes
    }
}
