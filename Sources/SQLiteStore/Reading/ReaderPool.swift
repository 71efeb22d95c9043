internal import Synchronization

/// Connections that read, each used by one caller at a time.
///
/// A read is a few pages that the system has in memory, done at once on the caller's thread: handing
/// it to another would take longer. In WAL mode readers and the writer do not wait for each other.
/// There are never more connections than threads that read at the same moment.
final class ReaderPool: Sendable {
    private struct State {
        var idle: [SQLiteSession] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let path: String

    /// How long to wait for a lock: readers wait only while another process recovers the file after a crash.
    private static let timeout = Duration.seconds(1)

    init(path: String) { self.path = path }

    /// Lends a connection.
    func read<Found>(
        _ body: (SQLiteSession) throws(SQLiteFailure) -> Found
    ) throws(SQLiteFailure) -> Found {
        let (ready, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        guard !isClosed else { throw .closed }
        let session: SQLiteSession
        if let ready { session = ready } else { session = try open() }
        // One that failed is not used again: a new one begins without a past.
        try session.connection.expectInPlace()
        let found = try body(session)
        state.withLock { if !$0.isClosed { $0.idle.append(session) } }
        return found
    }

    /// Closes the connections, each when nobody uses it any more.
    func close() { state.withLock { $0 = State(idle: [], isClosed: true) } }

    private func open() throws(SQLiteFailure) -> SQLiteSession {
        let connection = try SQLiteConnection(
            path: path, .readOnly, timeout: Self.timeout)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;")
        return SQLiteSession(connection)
    }
}
