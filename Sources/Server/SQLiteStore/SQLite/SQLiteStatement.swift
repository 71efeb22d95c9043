internal import CSQLite
internal import Verification

/// A prepared statement that finalises itself; used only on its connection's current thread.
///
/// Arguments are bound in order. SQLite copies bound values into memory that it does not wipe, so
/// bind only data that the database may contain: sealed seeds and keyed digests, never plaintext
/// secrets.
@safe final class SQLiteStatement {
    private let handle: OpaquePointer
    private var argument: Int32 = 0
    /// The result of binding the arguments: the first error, if SQLite refused one.
    private var bound = SQLITE_OK

    init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe sqlite3_finalize(handle) }

    @discardableResult func bind<Value: ColumnValue>(_ value: Value) -> Self {
        bind(value.storedValue, as: Value.columnType)
    }

    /// Binds the next arguments; none of them is text.
    func bind(_ values: [StoredValue]) -> Self {
        for value in values { bind(value, as: .bytes) }
        return self
    }

    /// Binds a row's columns and its authentication code.
    func bind<Row: ColumnRow>(_ row: Row, code: [UInt8]) -> Self {
        for column in Row.columns { bind(column.storedValue(row), as: column.type) }
        return bind(code)
    }

    @discardableResult private func bind(_ value: StoredValue, as type: ColumnType) -> Self {
        note { index in
            switch value {
            case .null: unsafe sqlite3_bind_null(handle, index)
            case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
            case .bytes(let bytes) where bytes.isEmpty:
                // An empty buffer may have no address, which SQLite would treat as NULL.
                unsafe sqlite3_bind_zeroblob(handle, index, 0)
            case .bytes(let bytes):
                unsafe bytes.withUnsafeBytes { bytes in
                    type == .text
                        ? unsafe sqlite3_bind_text64(
                            handle, index, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                            UInt64(bytes.count), Self.transient, UInt8(SQLITE_UTF8))
                        : unsafe sqlite3_bind_blob64(
                            handle, index, bytes.baseAddress, UInt64(bytes.count), Self.transient)
                }
            }
        }
    }

    private func note(_ bind: (Int32) -> Int32) -> Self {
        argument += 1
        let code = bind(argument)
        if bound == SQLITE_OK { bound = code }
        return self
    }

    /// Runs the statement to completion and returns how many rows it changed.
    @discardableResult func run() throws(StoreFailure) -> Int {
        defer { reset() }
        while try hasRow(step()) {}
        return changed
    }

    /// Runs the statement to completion; returns whether it changed one row.
    ///
    /// A violated uniqueness constraint means that a change's condition does not hold: an update
    /// can also collide with the fingerprint or digest of a different row.
    func changesOneRow() throws(StoreFailure) -> Bool {
        defer { reset() }
        var code = step()
        while code == SQLITE_ROW { code = step() }
        if Self.violatedUniqueness.contains(code) { return false }
        return try !hasRow(code) && changed == 1
    }

    // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID, macros that Swift does not import.
    private static let violatedUniqueness = [6, 8, 10].map { SQLITE_CONSTRAINT | ($0 << 8) }

    private var changed: Int { Int(unsafe sqlite3_changes64(unsafe sqlite3_db_handle(handle))) }

    /// The first row, decoded by `read`; `nil` if there is none.
    func first<Row>(
        _ read: (inout RowReader) throws(StoreFailure) -> Row
    ) throws(StoreFailure) -> Row? {
        defer { reset() }
        guard try hasRow(step()) else { return nil }
        var row = RowReader(self)
        return try read(&row)
    }

    /// The only column of the first row; `nil` if there is no row.
    func first<Value: ColumnValue>() throws(StoreFailure) -> Value? {
        try first { row throws(StoreFailure) in try row.read() }
    }

    /// Every row, decoded by `read`.
    func all<Row>(
        _ read: (inout RowReader) throws(StoreFailure) -> Row
    ) throws(StoreFailure) -> [Row] {
        defer { reset() }
        var rows: [Row] = []
        while try hasRow(step()) {
            var row = RowReader(self)
            rows.append(try read(&row))
        }
        return rows
    }

    private func step() -> Int32 { bound == SQLITE_OK ? unsafe sqlite3_step(handle) : bound }

    /// Whether a step with this result produced a row.
    private func hasRow(_ code: Int32) throws(StoreFailure) -> Bool {
        switch code {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw StoreFailure(sqlite: code)
        }
    }

    // Ignore both results: they repeat the step's error, which was already reported, or report
    // success.
    private func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
        argument = 0
        bound = SQLITE_OK
    }

    // SQLITE_TRANSIENT, a macro that Swift does not import: SQLite copies the argument.
    private static var transient: sqlite3_destructor_type {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }
}

/// Only the current row can be read.
extension SQLiteStatement: QueryResult {
    var invalidRow: StoreFailure { .invalidRow }

    func integer(_: Int32, _ column: Int32) throws(StoreFailure) -> Int64? {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return nil
        case SQLITE_INTEGER: return unsafe sqlite3_column_int64(handle, column)
        default: throw .invalidRow
        }
    }

    func bytes(_: Int32, _ column: Int32) throws(StoreFailure) -> [UInt8]? {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return nil
        case SQLITE_BLOB, SQLITE_TEXT:
            // These calls are in the order that SQLite's manual requires; an empty value has no
            // address.
            let start = unsafe sqlite3_column_blob(handle, column)
            let count = Int(unsafe sqlite3_column_bytes(handle, column))
            return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        default: throw .invalidRow
        }
    }
}
