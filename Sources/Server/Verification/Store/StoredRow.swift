internal import WatchwordCryptography

/// A row that is authenticated as a whole, so that a column cannot be changed, and the row cannot
/// be moved, without the key.
public protocol StoredRow: Sendable {
    /// The name of the row's table.
    static var table: String { get }
    /// The row's primary key, as stored.
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
    /// The default is `nil`: most rows are written only with the key.
    public var authenticatedBytesOnceEnded: [UInt8]? { nil }
}

extension AuditKey {
    /// The number of bytes in a row's authentication code.
    public static let rowCodeCount = 16

    /// The authentication code that a store keeps with a row, followed by the code of the same row
    /// without its response, if the row has a response.
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
    /// Call this if no row was found, so that the response time does not reveal the absence (V-06).
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

/// A number that a database stores about itself, such as a time.
public struct SettingRow: StoredRow {
    /// The name of the table of settings.
    public static let table = "settings"

    /// The name of the setting, which is the primary key.
    public let name: String
    /// The value of the setting.
    public let value: Int64
    /// The digest of the database's last event, so that the row is not valid in a different state.
    public let lastEvent: [UInt8]

    /// Takes the stored columns, without any check.
    public init(name: String, value: Int64, lastEvent: [UInt8]) {
        self.name = name
        self.value = value
        self.lastEvent = lastEvent
    }

    /// The primary key as stored bytes.
    public var primaryKey: [UInt8] { Array(name.utf8) }

    /// Every column, and the state to which the row is bound.
    public var authenticatedBytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.table)
        writer.write(name)
        writer.write(value)
        writer.write(lastEvent)
        return writer.bytes
    }
}

/// The result of a query, whose rows and columns are numbered from 0.
package protocol QueryResult: AnyObject {
    /// The failure for a row that this program cannot have written.
    var invalidRow: StoreFailure { get }

    /// The integer in a column; `nil` for NULL.
    func integer(_ row: Int32, _ column: Int32) throws(StoreFailure) -> Int64?
    /// The bytes in a column; `nil` for NULL. Text is returned as UTF-8.
    func bytes(_ row: Int32, _ column: Int32) throws(StoreFailure) -> [UInt8]?
}

/// Reads one row of a query's result, column by column from left to right.
///
/// Only this program writes to its databases, so a row that does not decode or is not authentic is
/// damaged.
package struct RowReader {
    private let result: any QueryResult
    private let row: Int32
    private var column: Int32

    package init(_ result: any QueryResult, row: Int32 = 0, from column: Int32 = 0) {
        self.result = result
        self.row = row
        self.column = column
    }

    /// The failure for a row that this program cannot have written.
    var invalidRow: StoreFailure { result.invalidRow }

    /// The integer in the next column; `nil` for NULL.
    package mutating func integer() throws(StoreFailure) -> Int64? {
        defer { column += 1 }
        return try result.integer(row, column)
    }

    /// The bytes in the next column; `nil` for NULL.
    ///
    /// Text is returned as UTF-8.
    package mutating func bytes() throws(StoreFailure) -> [UInt8]? {
        defer { column += 1 }
        return try result.bytes(row, column)
    }
}

extension RowReader {
    /// Returns the row if the authentication code that follows it is valid.
    ///
    /// - Parameter key: `nil` to skip the check; nothing may be accepted based on such a row.
    package mutating func row<Row: ColumnRow>(_ key: AuditKey?) throws(StoreFailure) -> Row {
        try authentic(Row(reading: &self), key)
    }

    /// Reads the row that a lookup of `id` found: the row with this id, or else the next row.
    ///
    /// The next row costs the same, so that the response time does not reveal whether `id` exists
    /// (V-06). If the next row is damaged, this does not matter.
    package mutating func credential(
        _ id: CredentialID, _ key: AuditKey
    ) throws(StoreFailure) -> CredentialRow? {
        var start = self
        guard try start.bytes() != id.bytes else { return try row(key) }
        do throws(StoreFailure) {
            _ = try row(key) as CredentialRow
        } catch  where error == invalidRow {}
        return nil
    }

    /// Returns the row if the next column is its authentication code.
    package mutating func authentic<Row: StoredRow>(
        _ row: Row, _ key: AuditKey?
    ) throws(StoreFailure) -> Row {
        let code = try requiredBytes()
        guard let key else { return row }
        let isAuthentic = key.isAuthentic(row, by: code)
        guard isAuthentic else { throw invalidRow }
        return row
    }

    /// The row for an audit; a damaged row is represented by its first column.
    package func audited<Row: ColumnRow>(_ key: AuditKey) throws(StoreFailure) -> AuditedRow<Row> {
        var (whole, damaged) = (self, self)
        do throws(StoreFailure) { return .whole(try whole.row(key)) } catch {
            guard error == invalidRow else { throw error }
            return .damaged(key: try damaged.requiredBytes())
        }
    }

    package mutating func event() throws(StoreFailure) -> ChainedEvent {
        ChainedEvent(
            position: try read(), node: try read(), sequence: try read(), behind: try read(),
            body: try read(), digest: try read(), time: try read())
    }

    package mutating func chain() throws(StoreFailure) -> ChainRecord {
        let node = try requiredBytes()
        return ChainRecord(
            start: try start(of: node), head: try mark(of: node), headPosition: try read())
    }

    private mutating func start(of node: [UInt8]) throws(StoreFailure) -> ChainStart {
        ChainStart(
            node: node, sequence: try read(), digest: try read(), position: try read(),
            behind: try read(), pruning: PrunedEvents(before: try integer(), at: try integer()),
            authentication: try read())
    }

    package mutating func mark(of node: [UInt8]) throws(StoreFailure) -> ChainCheckpoint {
        ChainCheckpoint(
            node: node, sequence: try read(), digest: try read(), authentication: try read())
    }

    /// The number of credentials of a kind that use a key version.
    package mutating func credentialUsage() throws(StoreFailure) -> KeyUsage {
        let (keyID, kind): (KeyID, CredentialKind) = (try read(), try read())
        return KeyUsage(keyID: keyID, credentials: [kind: try read()], answers: 0)
    }

    /// The number of recorded responses that use a key version.
    package mutating func answerUsage() throws(StoreFailure) -> KeyUsage {
        KeyUsage(keyID: try read(), credentials: [:], answers: try read())
    }
}

extension RowReader {
    /// The next column, as a value of the type that the caller expects.
    package mutating func read<Value: ColumnValue>() throws(StoreFailure) -> Value {
        let stored: StoredValue =
            switch Value.columnType {
            case .integer: try integer().map(StoredValue.integer) ?? .null
            case .bytes, .text: try bytes().map(StoredValue.bytes) ?? .null
            }
        return try value(Value(stored: stored))
    }

    /// The next column, which must be an integer.
    package mutating func requiredInteger() throws(StoreFailure) -> Int64 { try read() }

    /// The next column, which must be bytes.
    package mutating func requiredBytes() throws(StoreFailure) -> [UInt8] { try read() }

    /// The next column, which must be valid UTF-8 text.
    package mutating func requiredText() throws(StoreFailure) -> String { try read() }

    private func value<Value>(_ read: Value?) throws(StoreFailure) -> Value {
        guard let read else { throw invalidRow }
        return read
    }
}
