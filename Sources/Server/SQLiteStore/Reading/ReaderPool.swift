internal import Synchronization

/// Read connections, each lent to one caller at a time.
///
/// A read touches a few pages that the system has cached, and runs on the caller's thread: a switch
/// to another thread would take longer than the read. In WAL mode, readers and the writer do not
/// wait for each other. There are never more connections than threads that read at the same time.
final class ReaderPool: Sendable {
    private struct State {
        var idle: [SQLiteSession] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let path: String

    /// How long to wait for a lock.
    ///
    /// Readers wait only while another process recovers the file after a crash.
    private static let timeout = Duration.seconds(1)

    init(path: String) { self.path = path }

    /// Lends a connection to `body`.
    func read<Found>(
        _ body: (SQLiteSession) throws(SQLiteFailure) -> Found
    ) throws(SQLiteFailure) -> Found {
        let (ready, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        guard !isClosed else { throw .closed }
        let session: SQLiteSession
        if let ready { session = ready } else { session = try open() }
        // A connection that failed is not reused: a new one has no state left from the failure.
        try session.connection.expectInPlace()
        let found = try body(session)
        state.withLock { if !$0.isClosed { $0.idle.append(session) } }
        return found
    }

    /// Closes the idle connections now, and each of the others when its caller returns it.
    func close() { state.withLock { $0 = State(idle: [], isClosed: true) } }

    private func open() throws(SQLiteFailure) -> SQLiteSession {
        let connection = try SQLiteConnection(
            path: path, .readOnly, timeout: Self.timeout)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;")
        return SQLiteSession(connection)
    }
}
