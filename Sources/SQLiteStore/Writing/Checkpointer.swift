internal import POSIX
internal import Synchronization

/// Takes the write-ahead log into the file while the writer goes on: on a connection and a thread of its
/// own, which is started when it is asked for first.
final class Checkpointer: Sendable {
    private struct State {
        var thread: WorkerThread?
        var isWanted = false
        var isOver = false
    }

    private let state = Mutex(State())
    private let semaphore = Semaphore()
    private let path: String

    init(path: String) { self.path = path }

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
            // What fails is left to the writer.
            do throws(SQLiteFailure) {
                if opened == nil { opened = try open() }
                _ = try opened?.connection.checkpoint()
            } catch {
                // Who does the same just now leaves nothing to be done.
                if !error.isBusy { opened = nil }
            }
        }
    }

    private func open() throws(SQLiteFailure) -> SQLiteSession {
        let connection = try SQLiteConnection(path: path, .readWrite, patience: 0)
        try connection.execute("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;")
        return SQLiteSession(connection)
    }
}
