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
