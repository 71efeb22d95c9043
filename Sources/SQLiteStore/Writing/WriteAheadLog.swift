/// When the write-ahead log is taken into the file.
///
/// Each decision changes a page somewhere in the file, and taking a thousand of them there costs as much
/// as hundreds of decisions. Left to itself, SQLite does it in the commit that fills the log. Here a
/// ``Checkpointer`` does it beside the writer, who has only what came meanwhile left to do when the log
/// is to begin anew.
struct WriteAheadLog {
    /// So many pages are taken into the file together.
    static let interval: Int32 = 512
    /// From so many pages on, 8 MiB, the writer does what is left; then the next commit that meets no
    /// reader begins the log anew.
    static let usualLength: Int32 = 4_096

    let checkpointer: Checkpointer
    /// The log's length when it was looked after last.
    private var lastLength: Int32 = 0

    init(_ checkpointer: Checkpointer) { self.checkpointer = checkpointer }

    /// Looks after it when a commit is over.
    mutating func tend(_ connection: borrowing SQLiteConnection) {
        let length = connection.logLength
        // It has begun anew.
        if length < lastLength { lastLength = 0 }
        guard length - lastLength >= Self.interval else { return }
        guard length >= Self.usualLength else {
            lastLength = length
            return checkpointer.ask()
        }
        // While the checkpointer is at it, the next commit tries again; it is not asked any more.
        if checkpointer.checkpoint(on: connection) { lastLength = length }
    }

    /// Ends what is done beside the writer, whose connection this is.
    func close(_ connection: borrowing SQLiteConnection) {
        checkpointer.stop()
        if checkpointer.mustKeepLog { connection.keepLog() }
    }
}
