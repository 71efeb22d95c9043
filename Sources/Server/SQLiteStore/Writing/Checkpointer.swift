internal import Synchronization
internal import Verification
internal import WatchwordSystem

/// Checkpoints the write-ahead log while the writer continues, on its own connection and its own
/// thread, which starts on first use.
///
/// If the disk does not confirm a write, the log is kept from then on, and grows. The database file
/// may lack pages that SQLite counts as checkpointed; the next process that opens the database
/// exclusively checkpoints the whole log again.
final class Checkpointer: Sendable {
    private struct State {
        var thread: WorkerThread?
        var isWanted = false
        var isOver = false
        /// Why the last checkpoint failed; `nil` if it succeeded.
        var failure: StoreFailure?
        var mustKeepLog = false
    }

    private let state = Mutex(State())
    private let semaphore = Semaphore()
    private let path: String

    init(path: String) { self.path = path }

    /// Why the last checkpoint failed; `nil` if it succeeded.
    var failure: StoreFailure? { state.withLock { $0.failure } }

    /// Whether the log may contain pages that the database file lacks.
    var mustKeepLog: Bool { state.withLock { $0.mustKeepLog } }

    /// Requests a checkpoint without waiting for it.
    func ask() {
        let isNew = state.withLock { state in
            guard !state.isOver, !state.isWanted else { return false }
            // If the system cannot create a thread, the writer runs all the checkpoints.
            if state.thread == nil { state.thread = WorkerThread { self.run() } }
            state.isWanted = true
            return true
        }
        if isNew { semaphore.post() }
    }

    /// Checkpoints on the calling thread.
    ///
    /// - Returns: false if a checkpoint is already running.
    func checkpoint(on connection: borrowing SQLiteConnection) -> Bool {
        guard !mustKeepLog else { return true }
        let outcome = connection.checkpoint()
        note(outcome)
        if case .busy = outcome { return false }
        return true
    }

    /// Waits for a running checkpoint to end, and prevents new ones.
    func stop() {
        let ending = state.withLock { state in
            defer { state.thread = nil }
            state.isOver = true
            return state.thread
        }
        semaphore.post()
        ending?.join()
    }

    func note(_ outcome: SQLiteConnection.CheckpointOutcome) {
        state.withLock { state in
            guard !state.mustKeepLog else { return }
            switch outcome {
            case .done: state.failure = nil
            case .busy: break
            case .failed(let failure): state.failure = failure
            case .unconfirmed(let failure):
                state.failure = failure
                state.mustKeepLog = true
            }
        }
    }

    private func run() {
        var opened: SQLiteSession?
        while true {
            semaphore.wait()
            // Cleared before the checkpoint starts, so that later commits can request another one.
            let isOver = state.withLock { state in
                state.isWanted = false
                return state.isOver
            }
            if isOver { return }
            do throws(StoreFailure) {
                let session: SQLiteSession
                if let opened { session = opened } else { session = try open() }
                opened = session
                _ = checkpoint(on: session.connection)
            } catch { note(.failed(error)) }
        }
    }

    private func open() throws(StoreFailure) -> SQLiteSession {
        // The writer has opened the file, so opening it again writes nothing that the disk would
        // have to confirm. The lock has no timeout: a process that holds the lock is running a
        // checkpoint itself.
        let connection = try SQLiteConnection(path: path, .readWrite, timeout: .zero)
        try connection.execute("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;")
        return SQLiteSession(connection)
    }
}

/// Decides when the write-ahead log is checkpointed.
///
/// Each decision changes a page somewhere in the file, and checkpointing a thousand pages costs as
/// much as hundreds of decisions. By default, SQLite does this within the commit that fills the
/// log. Here a ``Checkpointer`` runs in parallel with the writer, which has to checkpoint only the
/// most recent pages before the log restarts.
struct WriteAheadLog {
    /// The number of pages between two checkpoints.
    static let interval: Int32 = 512
    /// The log length, in pages (8 MiB), at which the writer checkpoints the remaining pages
    /// itself.
    ///
    /// After that, the next commit restarts the log, unless a reader still needs it.
    static let typicalLength: Int32 = 4_096

    let checkpointer: Checkpointer
    /// The log's length at the last checkpoint request.
    private var lastLength: Int32 = 0

    init(_ checkpointer: Checkpointer) { self.checkpointer = checkpointer }

    /// Requests or runs a checkpoint after a commit, if one is due.
    mutating func tend(_ connection: borrowing SQLiteConnection) {
        let length = connection.logLength
        // The log has restarted.
        if length < lastLength { lastLength = 0 }
        guard length - lastLength >= Self.interval else { return }
        guard length >= Self.typicalLength else {
            lastLength = length
            return checkpointer.ask()
        }
        // If the checkpointer is running, the next commit tries again; no further request is
        // needed.
        if checkpointer.checkpoint(on: connection) { lastLength = length }
    }

    /// Stops the checkpointer; `connection` is the writer's.
    func close(_ connection: borrowing SQLiteConnection) {
        checkpointer.stop()
        if checkpointer.mustKeepLog { connection.keepLog() }
    }
}
