internal import CSQLite

/// A prepared statement that finalises itself; used only on its connection's current thread.
///
/// Arguments are bound, and columns are read, in order. SQLite copies bound values into memory that
/// it does not wipe, so bind only what the database may contain: sealed seeds and keyed digests,
/// never plaintext secrets.
@safe final class SQLiteStatement {
    private let handle: OpaquePointer
    private var argument: Int32 = 0
    private var column: Int32 = 0
    private var refused: SQLiteFailure?

    init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Binds the next argument.
    @discardableResult func bind(_ value: Int64?) -> Self {
        guard let value else { return bindNull() }
        return note { unsafe sqlite3_bind_int64(handle, $0, value) }
    }

    /// Binds the next argument.
    @discardableResult func bind(_ bytes: [UInt8]?) -> Self {
        guard let bytes else { return bindNull() }
        return bind(bytes.span)
    }

    /// Binds the next argument.
    @discardableResult func bind(_ bytes: Span<UInt8>) -> Self {
        note { index in
            unsafe bytes.withUnsafeBytes { bytes in
                // An empty buffer may have no address, which SQLite would treat as NULL.
                unsafe bytes.isEmpty
                    ? unsafe sqlite3_bind_zeroblob(handle, index, 0)
                    : unsafe sqlite3_bind_blob64(
                        handle, index, bytes.baseAddress, UInt64(bytes.count), Self.transient)
            }
        }
    }

    /// Binds the next argument.
    @discardableResult func bind(_ text: String) -> Self {
        var text = text
        return note { index in
            text.withUTF8 { utf8 in
                unsafe utf8.withMemoryRebound(to: CChar.self) { utf8 in
                    unsafe sqlite3_bind_text64(
                        handle, index, utf8.baseAddress, UInt64(utf8.count), Self.transient,
                        UInt8(SQLITE_UTF8))
                }
            }
        }
    }

    private func bindNull() -> Self { note { unsafe sqlite3_bind_null(handle, $0) } }

    private func note(_ bind: (Int32) -> Int32) -> Self {
        argument += 1
        let code = bind(argument)
        if code != SQLITE_OK, refused == nil { refused = SQLiteFailure(call: .bind, code: code) }
        return self
    }

    /// Runs the statement to completion and returns how many rows it changed.
    @discardableResult func run() throws(SQLiteFailure) -> Int {
        defer { reset() }
        while try step() {}
        return Int(unsafe sqlite3_changes64(unsafe sqlite3_db_handle(handle)))
    }

    /// The first row, decoded by `read`; `nil` if there is none.
    func first<Row>(
        _ read: (SQLiteStatement) throws(SQLiteFailure) -> Row
    ) throws(SQLiteFailure) -> Row? {
        defer { reset() }
        return try step() ? try read(self) : nil
    }

    /// Every row, decoded by `read`.
    func all<Row>(
        _ read: (SQLiteStatement) throws(SQLiteFailure) -> Row
    ) throws(SQLiteFailure) -> [Row] {
        defer { reset() }
        var rows: [Row] = []
        while try step() { rows.append(try read(self)) }
        return rows
    }

    /// The next column: an integer or NULL.
    func integer() throws(SQLiteFailure) -> Int64? {
        defer { column += 1 }
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return nil
        case SQLITE_INTEGER: return unsafe sqlite3_column_int64(handle, column)
        default: throw .invalidRow
        }
    }

    /// The next column: bytes or NULL; text is returned as UTF-8.
    func bytes() throws(SQLiteFailure) -> [UInt8]? {
        defer { column += 1 }
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

    /// Returns to the row's first column.
    func rewind() { column = 0 }

    private func step() throws(SQLiteFailure) -> Bool {
        if let refused { throw refused }
        column = 0
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw SQLiteFailure(call: .step, code: code)
        }
    }

    // Ignore both results: they repeat the step's error, which was already reported, or report
    // success.
    private func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
        argument = 0
        refused = nil
    }

    // SQLITE_TRANSIENT, a macro that Swift does not import: SQLite copies the argument.
    private static var transient: sqlite3_destructor_type {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }
}

extension SQLiteStatement {
    /// The next column, which must be an integer.
    func requiredInteger() throws(SQLiteFailure) -> Int64 {
        guard let value = try integer() else { throw .invalidRow }
        return value
    }

    /// The next column, which must be bytes.
    func requiredBytes() throws(SQLiteFailure) -> [UInt8] {
        guard let value = try bytes() else { throw .invalidRow }
        return value
    }

    /// The next column, which must be valid UTF-8 text.
    func requiredText() throws(SQLiteFailure) -> String {
        guard let text = String(validating: try requiredBytes(), as: UTF8.self) else {
            throw .invalidRow
        }
        return text
    }
}
