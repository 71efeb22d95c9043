internal import Synchronization
internal import Verification
internal import WatchwordSystem

/// Compares this machine's clock with the database's, which all servers share.
///
/// A wait that one server imposes must not appear over to a different server, so a server whose
/// clock differs does not use the database. Each new connection compares the clocks, and so do
/// reads, at most once every ``interval``, in the same round trip. A jump of this machine's clock
/// makes the next read compare them.
final class ClockComparison: Sendable {
    /// The largest permitted difference, in milliseconds.
    ///
    /// Two servers then differ by at most 20 s, which is less than the shortest wait
    /// (``Policy/firstWait``).
    static let tolerance: Int64 = 10_000
    /// The time between two comparisons, in milliseconds.
    static let interval: Int64 = 5_000

    static let query = PipelineCommand.text(
        "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint")

    /// A reading of both of this machine's clocks.
    struct Reading {
        let unixMilliseconds: Int64
        let instant: ContinuousClock.Instant

        /// Milliseconds of the monotonic clock since an earlier reading.
        fileprivate func elapsed(since earlier: Reading) -> Int64 {
            let passed = (instant - earlier.instant).components
            return passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
        }
    }

    private struct Content {
        var isClose = true
        var last: Reading?
    }

    private let unixMilliseconds: @Sendable () -> Int64
    private let content = Mutex(Content())

    init(_ unixMilliseconds: @escaping @Sendable () -> Int64) {
        self.unixMilliseconds = unixMilliseconds
    }

    /// False once a comparison has found a difference, until a later comparison finds none.
    var isClose: Bool { content.withLock { $0.isClose } }

    func reading() -> Reading {
        Reading(unixMilliseconds: unixMilliseconds(), instant: ContinuousClock.now)
    }

    /// The reading to compare now; `nil` if no comparison is due.
    func due() -> Reading? {
        let now = reading()
        return content.withLock { content in
            if let last = content.last {
                let elapsed = now.elapsed(since: last)
                let jump = abs(now.unixMilliseconds - last.unixMilliseconds - elapsed)
                guard elapsed >= Self.interval || jump >= Self.tolerance / 10 else { return nil }
            }
            content.last = now
            return now
        }
    }

    /// Compares the clocks.
    ///
    /// - Parameters:
    ///   - rows: the result of ``query``.
    ///   - sent: the reading before the query was sent.
    func compare(_ rows: PostgreSQLRows, since sent: Reading) throws(StoreFailure) {
        guard let database: Int64 = try rows.first() else { throw .broken }
        let received = reading()
        // The database read its clock between the two readings.
        let earliest = sent.unixMilliseconds - Self.tolerance
        let latest =
            sent.unixMilliseconds + received.elapsed(since: sent) + Self.tolerance
        let isClose = (earliest...max(earliest, latest)).contains(database)
        content.withLock { content in
            content.isClose = isClose
            // A jump while the query was under way is noticed by the next read.
            content.last = sent
        }
        guard isClose else { throw .clock }
    }
}
