internal import POSIX
internal import Synchronization

/// Takes the write-ahead log into the file while the writer goes on: on a connection and a thread of its
/// own, which is started when it is asked for first.
///
/// When the disk does not confirm what was written, the log stays as it is from then on, and grows. The
/// file may lack pages that SQLite counts as taken in; whoever opens it next, and has it to himself, takes
/// in all of the log once more.
final class Checkpointer: Sendable {
    private struct State {
        var thread: WorkerThread?
        var isWanted = false
        var isOver = false
        /// Why the log was not taken in the last time; nothing when it was.
        var failure: SQLiteFailure?
    }

    private let state = Mutex(State())
    private let semaphore = Semaphore()
    private let path: String

    init(path: String) { self.path = path }

    /// Why the log is not taken into the file; nothing when all is well.
    var failure: SQLiteFailure? { state.withLock { $0.failure } }

    /// Whether the log has what the file may lack.
    var mustKeepLog: Bool { failure?.isUnconfirmed ?? false }

    /// Asks for it, and does not wait for it.
    func ask() {
        let isNew = state.withLock { state in
            guard !state.isOver, !state.isWanted else { return false }
            // Where the system has no thread left, the writer does all of it.
            if state.thread == nil { state.thread = WorkerThread { self.run() } }
            state.isWanted = true
            return true
        }
        if isNew { semaphore.post() }
    }

    /// Does it here, or finds that it can't be done.
    ///
    /// - Returns: false while somebody else is at it.
    func checkpoint(on connection: borrowing SQLiteConnection) -> Bool {
        guard !mustKeepLog else { return true }
        do throws(SQLiteFailure) {
            try connection.checkpoint()
            note(nil)
        } catch {
            if error.isBusy { return false }
            note(error)
        }
        return true
    }

    /// Waits until what was begun is done; nothing is begun any more.
    func stop() {
        let ending = state.withLock { state in
            defer { state.thread = nil }
            state.isOver = true
            return state.thread
        }
        semaphore.post()
        ending?.join()
    }

    func note(_ failure: SQLiteFailure?) {
        state.withLock { state in
            if state.failure?.isUnconfirmed != true { state.failure = failure }
        }
    }

    private func run() {
        var opened: SQLiteSession?
        while true {
            semaphore.wait()
            // Before it is begun: what comes meanwhile asks anew.
            let isOver = state.withLock { state in
                state.isWanted = false
                return state.isOver
            }
            if isOver { return }
            do throws(SQLiteFailure) {
                let session: SQLiteSession
                if let opened { session = opened } else { session = try open() }
                opened = session
                _ = checkpoint(on: session.connection)
            } catch { note(error) }
        }
    }

    private func open() throws(SQLiteFailure) -> SQLiteSession {
        // Nobody is waited for: whoever takes the log in just now does the same.
        let connection = try SQLiteConnection(path: path, .readWrite, timeout: .zero)
        try connection.execute("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;")
        return SQLiteSession(connection)
    }
}
