/// How much one writer has written to the log, and when it is taken into the file.
///
/// Each decision changes a page somewhere in the file, and taking a thousand of them there costs as much
/// as hundreds of decisions. Left to itself, SQLite does it in the commit that fills the log. Here a
/// ``Checkpointer`` does it beside the writer, who has only what came meanwhile left to do when the log
/// is to begin anew.
struct WriteAheadLog: ~Copyable {
    /// So many pages are taken into the file together.
    static let interval: Int32 = 512
    /// At so many pages, 8 MiB, the writer does what is left, and its next commit begins the log anew.
    static let limit: Int32 = 4_096

    private let checkpointer: Checkpointer
    // Both as SQLite counts, whose counter begins anew behind the largest number.
    private var beginning: Int32 = 0
    private var asked: Int32 = 0

    init(path: String) { checkpointer = Checkpointer(path: path) }

    /// Looks after it when a commit is over.
    mutating func tend(_ connection: borrowing SQLiteConnection) {
        let written = connection.pagesWritten
        guard written &- beginning >= Self.limit else {
            guard written &- asked >= Self.interval else { return }
            asked = written
            return checkpointer.ask()
        }
        asked = written
        do throws(SQLiteFailure) {
            // A reader that takes long needs the rest; it is not looked for at every commit.
            let isWhole = try connection.checkpoint()
            beginning = isWhole ? written : beginning &+ Self.interval
        } catch {
            // The checkpointer is not asked any more: the next commit finds it ready. What else fails costs
            // no more than a longer log; commits need nothing of it.
            if !error.isBusy { beginning = beginning &+ Self.interval }
        }
    }

    /// Waits until what was begun is done; nothing is begun any more.
    func close() { checkpointer.stop() }
}
