internal import CSQLite
internal import WatchwordCryptography
internal import WatchwordSystem

/// A connection to a copy of a database in memory; closed on deinitialisation.
@safe final class SQLiteConnection {
    private let handle: OpaquePointer
    /// When the running statement must end; the progress handler reads it.
    private let deadline: UnsafeMutablePointer<Moment>

    /// The first bytes of a database.
    private static let magic = "SQLite format 3\0"
    /// The length of the header before the first page's content.
    private static let headerLength = 100

    init(copying file: SecretBytes, _ limits: SQLiteLimits) throws(ContainerError) {
        let isDatabase = file.withBytes {
            $0.count >= SQLiteConnection.headerLength && $0.holds(SQLiteConnection.magic, at: 0)
        }
        guard isDatabase else { throw .damaged }
        guard file.withBytes({ SQLiteConnection.statedLength(of: $0) <= $0.count }) else {
            throw .damaged
        }
        guard SQLiteLibrary.prepare() else { throw .outOfMemory }
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(
            ":memory:", &opened,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let ready = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw ContainerError(code)
        }
        unsafe handle = ready
        unsafe deadline = .allocate(capacity: 1)
        unsafe deadline.initialize(to: .now)
        try restrict(limits, fileLength: file.count)
        try load(file, limits)
    }

    /// The length that the header states, 0 if it states none.
    ///
    /// SQLite reads a truncated file as long as it needs none of the missing pages.
    private static func statedLength(of file: Span<UInt8>) -> Int {
        func number(_ start: Int, _ count: Int) -> Int {
            (start..<start + count).reduce(0) { $0 << 8 | Int(file[$1]) }
        }
        // The number of pages is valid if the last writer knew this field.
        guard number(24, 4) == number(92, 4) else { return 0 }
        let pageSize = number(16, 2)
        return number(28, 4) * (pageSize == 1 ? 65_536 : pageSize)
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
        unsafe deadline.deallocate()
    }

    /// Runs a statement and calls `body` for each row.
    ///
    /// - Returns: Whether `sql` contains a statement.
    func query(
        _ sql: String, _ limits: SQLiteLimits,
        _ body: (borrowing SQLiteRowReader) throws(ContainerError) -> Void
    ) throws(ContainerError) -> Bool {
        unsafe deadline.pointee = .now + limits.time
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &prepared, nil)
        guard code == SQLITE_OK else { throw ContainerError(code) }
        guard let statement = unsafe prepared else { return false }
        defer { unsafe sqlite3_finalize(statement) }
        while true {
            let code = unsafe sqlite3_step(statement)
            switch code {
            case SQLITE_ROW:
                // SQLite calls the progress handler after a number of instructions, but long chains
                // of pages take time and few instructions.
                guard unsafe deadline.pointee > .now else { throw .damaged }
                try body(unsafe SQLiteRowReader(statement: statement))
            case SQLITE_DONE: return true
            default: throw ContainerError(code)
            }
        }
    }

    /// Turns off everything that reading tables does not need.
    private func restrict(
        _ limits: SQLiteLimits, fileLength: Int
    ) throws(ContainerError) {
        var code = unsafe watchword_distrust(handle)
        guard code == SQLITE_OK else { throw ContainerError(code) }
        for (limit, value) in [
            (SQLITE_LIMIT_LENGTH, max(fileLength, limits.valueLength)),
            (SQLITE_LIMIT_SQL_LENGTH, 100_000),
            (SQLITE_LIMIT_COLUMN, 200), (SQLITE_LIMIT_EXPR_DEPTH, 20),
            (SQLITE_LIMIT_COMPOUND_SELECT, 3), (SQLITE_LIMIT_VDBE_OP, 25_000),
            (SQLITE_LIMIT_FUNCTION_ARG, 8), (SQLITE_LIMIT_ATTACHED, 0),
            (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50), (SQLITE_LIMIT_VARIABLE_NUMBER, 10),
            (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            unsafe sqlite3_limit(handle, limit, Int32(value))
        }
        // Temporary tables would be files.
        for pragma in [
            "cell_size_check = ON", "query_only = ON", "temp_store = MEMORY", "mmap_size = 0",
        ] {
            code = unsafe sqlite3_exec(handle, "PRAGMA \(pragma)", nil, nil, nil)
            guard code == SQLITE_OK else { throw ContainerError(code) }
        }
        unsafe sqlite3_progress_handler(
            handle, 1_000,
            { deadline in
                guard let deadline = unsafe deadline?.assumingMemoryBound(to: Moment.self) else {
                    return 1
                }
                return unsafe deadline.pointee > .now ? 0 : 1
            }, deadline)
    }

    /// Allows reading columns, the list of a table's columns, and nothing else.
    private static let authorize:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?, UnsafePointer<CChar>?
        ) -> Int32 = { _, action, first, second, _, _ in
            switch action {
            case SQLITE_SELECT, SQLITE_READ: return SQLITE_OK
            case SQLITE_PRAGMA:
                guard let first = unsafe first else { return SQLITE_DENY }
                return unsafe String(cString: first) == "table_info" ? SQLITE_OK : SQLITE_DENY
            // Used by the query that lists the tables.
            case SQLITE_FUNCTION:
                guard let second = unsafe second else { return SQLITE_DENY }
                return unsafe String(cString: second) == "substr" ? SQLITE_OK : SQLITE_DENY
            default: return SQLITE_DENY
            }
        }

    /// Gives SQLite a copy of the file.
    private func load(
        _ file: SecretBytes, _ limits: SQLiteLimits
    ) throws(ContainerError) {
        guard
            let copy = unsafe sqlite3_malloc64(UInt64(file.count))?
                .assumingMemoryBound(to: UInt8.self)
        else { throw .outOfMemory }
        file.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                _ = unsafe UnsafeMutableBufferPointer(start: copy, count: bytes.count).initialize(
                    fromContentsOf: bytes)
            }
        }
        // A file in WAL mode cannot be opened from memory; without its log it is an ordinary file.
        unsafe copy[18] = 1
        unsafe copy[19] = 1
        let count = Int64(file.count)
        // SQLite frees the copy, also when this fails.
        let code = unsafe sqlite3_deserialize(
            handle, "main", copy, count, count,
            UInt32(SQLITE_DESERIALIZE_READONLY | SQLITE_DESERIALIZE_FREEONCLOSE))
        guard code == SQLITE_OK else { throw ContainerError(code) }
        // This cannot be set earlier, because the call above is implemented as an ATTACH.
        let set = unsafe sqlite3_set_authorizer(handle, SQLiteConnection.authorize, nil)
        guard set == SQLITE_OK else { throw ContainerError(set) }
    }
}

/// Reads the columns of the current row.
@safe struct SQLiteRowReader: ~Copyable {
    private let statement: OpaquePointer

    init(statement: OpaquePointer) { unsafe self.statement = statement }

    /// - Parameter limit: The maximum length of the value in bytes.
    func value(_ column: Int32, limit: Int) throws(ContainerError) -> SQLiteValue {
        switch unsafe sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            // The call that converts the text comes first.
            guard let start = unsafe sqlite3_column_text(statement, column) else {
                throw .outOfMemory
            }
            let count = Int(unsafe sqlite3_column_bytes(statement, column))
            guard count <= limit else { return .tooLong(length: count) }
            return .text(unsafe bytes(from: UnsafeRawPointer(start), count))
        case SQLITE_BLOB:
            // An empty blob has no address.
            guard let start = unsafe sqlite3_column_blob(statement, column) else {
                return .blob(SecretBytes(capacity: 0) { _ in })
            }
            let count = Int(unsafe sqlite3_column_bytes(statement, column))
            guard count <= limit else { return .tooLong(length: count) }
            return .blob(unsafe bytes(from: start, count))
        default: return .null
        }
    }

    private func bytes(from start: UnsafeRawPointer, _ count: Int) -> SecretBytes {
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return SecretBytes(copying: unsafe bytes.bindMemory(to: UInt8.self).span)
    }
}

extension ContainerError {
    /// The error for SQLite's code.
    ///
    /// An interruption counts as damage, because reading an intact file never takes so long.
    fileprivate init(_ code: Int32) {
        self = code & 0xff == SQLITE_NOMEM ? .outOfMemory : .damaged
    }
}

/// SQLite's settings for the whole process.
enum SQLiteLibrary {
    // A `static let` is initialised once, before the first database is opened.
    private static let isReady: Bool = {
        var methods = unsafe sqlite3_mem_methods()
        unsafe methods.xMalloc = { count in unsafe WipingAllocator.allocate(Int(count)) }
        unsafe methods.xFree = WipingAllocator.release
        unsafe methods.xRealloc = { memory, count in
            unsafe WipingAllocator.reallocate(memory, Int(count))
        }
        unsafe methods.xSize = { memory in
            Int32(clamping: unsafe WipingAllocator.size(memory))
        }
        unsafe methods.xRoundup = { count in (count + 7) & ~7 }
        unsafe methods.xInit = { _ in SQLITE_OK }
        unsafe methods.xShutdown = { _ in }
        // Refused if something else in the process already uses SQLite. Its memory is then not
        // wiped; no program of Watchword does that.
        _ = unsafe watchword_use_memory(&methods)
        return sqlite3_initialize() == SQLITE_OK
    }()

    /// Initialises the library if this has not been done yet.
    static func prepare() -> Bool { isReady }
}

/// Loads what SQLite would otherwise load when it reads its first database, such as the seed of its
/// random numbers.
///
/// A process calls this before it is confined.
///
/// - Returns: Whether the library is ready.
func prepareSQLiteReading() -> Bool {
    guard SQLiteLibrary.prepare() else { return false }
    var number: UInt8 = 0
    unsafe sqlite3_randomness(1, &number)
    return true
}
