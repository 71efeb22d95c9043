internal import CSQLite
internal import WatchwordCryptography
internal import WatchwordSystem

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
        // wiped, which happens in no program of Watchword.
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
