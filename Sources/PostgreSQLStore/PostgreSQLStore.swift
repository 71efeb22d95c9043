internal import Cryptography
public import Verification

/// The store in a PostgreSQL database, for any number of processes on any number of machines.
///
/// Two connections read and one commits, each on a thread of its own; one more keeps house when there
/// is something to do. What waits together is sent together: a commit takes one round trip for all who
/// wait for it. Each connection that commits appends to a chain of events of its own; the chains'
/// common order comes from one row, so that transactions of all processes become durable one after the
/// other, and sharing them is what makes up for it.
///
/// A connection that breaks is opened again, at growing intervals; meanwhile calls fail at once. When the
/// database comes back without events that it acknowledged to this process, it is not used any more:
/// it would take spent codes again.
public final class PostgreSQLStore: Sendable {
    let address: PostgreSQLAddress
    let key: AuditKey
    let timeout: Duration
    let known: KnownHeads
    let readers: ConnectionPool<PostgreSQLSession, ReadJob>
    let writers: ConnectionPool<BatchWriter, CommitJob>
    let keepers: ConnectionPool<PostgreSQLSession, HouseJob>

    /// How many connections a store has at most.
    public struct Connections: Sendable {
        /// How many read.
        public let reading: Int
        /// How many commit; each takes a chain of events.
        public let writing: Int

        /// Two that read and one that commits.
        public static let standard = Connections(reading: 2, writing: 1)

        /// Takes how many of each kind, at least one.
        public init(reading: Int, writing: Int) {
            self.reading = max(reading, 1)
            self.writing = max(writing, 1)
        }
    }

    /// Connects, and makes the tables (in a schema `watchword`) when they are missing.
    ///
    /// Schema steps are taken once, by whoever comes first.
    ///
    /// - Parameters:
    ///   - known: ends of chains that an earlier process kept; see ``ends``.
    ///   - timeout: how long a statement may take; half of it for a lock. Where nobody answers
    ///     at all, the first read waits half as long again, and the first commit three times as long;
    ///     later ones fail at once until somebody answers again.
    public init(
        connecting address: PostgreSQLAddress, key: AuditKey, known ends: [ChainEnd] = [],
        timeout: Duration = .seconds(2), connections: Connections = .standard
    ) throws(PostgreSQLStoreError) {
        self.address = address
        self.key = key
        self.timeout = timeout
        let known = KnownHeads(ends)
        self.known = known
        try ends.expectAuthentic(key)
        try PostgreSQLConnection.opening(address).bringUpToDate(timeout: timeout)
        let open:
            @Sendable ([StoreStatement], Bool) throws(PostgreSQLFailure) -> PostgreSQLSession = {
                statements, inHaste throws(PostgreSQLFailure) in
                try PostgreSQLSession(
                    address, statements, timeout: timeout, known: known, inHaste: inHaste)
            }
        let openWriter: @Sendable (Bool) throws(PostgreSQLFailure) -> BatchWriter = {
            inHaste throws(PostgreSQLFailure) in
            try BatchWriter(try open(StoreStatement.writing, inHaste), key: key, known: known)
        }
        do throws(PostgreSQLFailure) {
            // Who shall commit has a chain of events from the beginning.
            var ready: [BatchWriter] = []
            for _ in 0..<connections.writing { ready.append(try openWriter(false)) }
            writers = try ConnectionPool(
                .init(
                    size: connections.writing, open: openWriter,
                    stands: { known.isSound && $0.session.stands },
                    answers: { $0.session.answers }, take: CommitJob.take,
                    perform: { writer, jobs in writer.commit(jobs) },
                    refuse: { job, failure in job.finish(.failure(StoreFailure(failure))) }),
                open: ready)
            readers = try ConnectionPool(
                .init(
                    size: connections.reading,
                    open: { inHaste throws(PostgreSQLFailure) in
                        try open(StoreStatement.reading, inHaste)
                    },
                    stands: { known.isSound && $0.stands }, answers: { $0.answers },
                    take: { $0.takeFirst(64) },
                    perform: { session, jobs in session.read(jobs) },
                    refuse: { job, failure in job.finish(.failure(failure)) }))
            keepers = try ConnectionPool(
                .init(
                    size: 1,
                    open: { inHaste throws(PostgreSQLFailure) in
                        try open(StoreStatement.pruning, inHaste)
                    },
                    stands: { known.isSound && $0.stands }, answers: { $0.answers },
                    take: { $0.takeFirst(1) },
                    perform: { session, jobs in session.keepHouse(jobs) },
                    refuse: { job, failure in job.finish(.failure(failure)) }))
        } catch {
            throw PostgreSQLStoreError(error)
        }
    }

    /// Where the chains ended that this process appended to, as the database acknowledged it last.
    public var ends: [ChainEnd] { known.ends }

    /// Calls `tell` whenever so many events more were acknowledged than when it was called last.
    ///
    /// On the thread that commits, before the commits are answered: it must not wait for anybody.
    public func whenEndsMove(by events: Int, _ tell: @escaping @Sendable () -> Void) {
        known.watch(every: UInt64(max(events, 1)), tell)
    }

    deinit { close() }

    /// Does what is waiting and closes the connections; calls that come later fail.
    public func close() {
        readers.close()
        keepers.close()
        writers.close()
    }
}

extension Array {
    /// Takes so many from the front.
    fileprivate mutating func takeFirst(_ count: Int) -> [Element] {
        defer { removeFirst(Swift.min(count, self.count)) }
        return Array(prefix(count))
    }
}
