internal import SQLStore
public import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

/// The store in a PostgreSQL database, for any number of processes on any number of machines.
///
/// By default, two connections read and one commits, each on its own thread; one more is opened for
/// pruning when needed. Waiting jobs are sent together: one round trip commits for all waiting
/// callers. Each connection that commits appends to its own event chain. The common order of all
/// chains comes from one row, so the transactions of all processes become durable one after the
/// other; group commits make up for that cost.
///
/// A broken connection is reopened. If no connection can be opened, calls fail immediately, and the
/// store retries at growing intervals. If the database comes back without events that it
/// acknowledged to this process, the process stops using it, because such a database would accept
/// spent codes again.
public final class PostgreSQLVerificationStore: Sendable {
    let key: AuditKey
    /// What all sessions have in common, except the clock.
    private let context: PostgreSQLSession.Context
    let readers: ConnectionPool<PostgreSQLSession, ReadJob>
    let writers: ConnectionPool<BatchWriter, CommitJob>
    let keepers: ConnectionPool<PostgreSQLSession, MaintenanceJob>

    /// The maximum number of connections of a store.
    public struct Connections: Sendable {
        /// The number of connections that read.
        public let reading: Int
        /// The number of connections that commit; each has its own event chain.
        public let writing: Int

        /// Two connections that read and one that commits.
        public static let standard = Connections(reading: 2, writing: 1)

        /// Sets the numbers; values below one become one.
        public init(reading: Int, writing: Int) {
            self.reading = max(reading, 1)
            self.writing = max(writing, 1)
        }
    }

    /// Connects, and creates the tables (in a schema named `watchword`) if they are missing.
    ///
    /// Each schema step runs once, in the first process that connects.
    ///
    /// - Parameters:
    ///   - known: chain ends that an earlier process stored; see ``ends``.
    ///   - timeout: how long a statement may take; it waits for a lock for at most half that time.
    ///     If the server does not answer at all, the first read waits one and a half times as long,
    ///     and the first commit three times as long; later calls fail immediately until the server
    ///     answers again.
    ///   - clock: this machine's clock in Unix milliseconds, which must not differ from the
    ///     database's by more than 10 s; `nil` stands for the system's.
    public init(
        connecting address: PostgreSQLAddress, key: AuditKey,
        known ends: [AcknowledgedCheckpoint] = [],
        timeout: Duration = .seconds(2), connections: Connections = .standard,
        clock unixMilliseconds: (@Sendable () -> Int64)? = nil
    ) throws(PostgreSQLStoreError) {
        self.key = key
        let known = AcknowledgedCheckpoints(ends)
        context = PostgreSQLSession.Context(address: address, timeout: timeout, known: known)
        let clock = ClockComparison(unixMilliseconds ?? { SystemClock.unixMilliseconds() })
        try ends.expectAuthentic(key)
        try PostgreSQLConnection.connecting(to: address).updateSchema(timeout: timeout)
        var deciding = context
        deciding.clock = clock
        let open:
            @Sendable ([StoreStatement], Bool) throws(PostgreSQLFailure) -> PostgreSQLSession = {
                [deciding] statements, failsFast throws(PostgreSQLFailure) in
                try PostgreSQLSession(deciding, statements, failsFast: failsFast)
            }
        let openWriter: @Sendable (Bool) throws(PostgreSQLFailure) -> BatchWriter = {
            failsFast throws(PostgreSQLFailure) in
            try BatchWriter(try open(StoreStatement.writing, failsFast), key: key, known: known)
        }
        do throws(PostgreSQLFailure) {
            // A connection that commits has an event chain from the start.
            var ready: [BatchWriter] = []
            for _ in 0..<connections.writing { ready.append(try openWriter(false)) }
            writers = try ConnectionPool(
                .init(
                    size: connections.writing, open: openWriter,
                    stands: { known.isSound && clock.isClose && $0.session.stands },
                    answers: { $0.session.answers }, take: CommitJob.take,
                    perform: { writer, jobs in writer.commit(jobs) },
                    refuse: { job, failure in job.finish(.failure(StoreFailure(failure))) }),
                open: ready)
            readers = try ConnectionPool(
                .init(
                    size: connections.reading,
                    open: { failsFast throws(PostgreSQLFailure) in
                        try open(StoreStatement.reading, failsFast)
                    },
                    stands: { known.isSound && clock.isClose && $0.stands },
                    answers: { $0.answers },
                    take: { $0.takeFirst(64) },
                    perform: { session, jobs in session.read(jobs) },
                    refuse: { job, failure in job.finish(.failure(failure)) }))
            keepers = try ConnectionPool(
                .init(
                    size: 1,
                    open: { failsFast throws(PostgreSQLFailure) in
                        try open(StoreStatement.pruning, failsFast)
                    },
                    stands: { known.isSound && clock.isClose && $0.stands },
                    answers: { $0.answers },
                    take: { $0.takeFirst(1) },
                    perform: { session, jobs in session.runHousekeeping(jobs) },
                    refuse: { job, failure in job.finish(.failure(failure)) }))
        } catch {
            throw PostgreSQLStoreError(error)
        }
    }

    /// The ends of the chains that this process appended to, as the database last acknowledged
    /// them.
    public var ends: [AcknowledgedCheckpoint] { context.known.ends }

    /// Calls `tell` whenever `events` more events have been acknowledged since the last call.
    ///
    /// `tell` runs on the thread that commits, before the commits return, and must not block.
    public func onCheckpointChange(by events: Int, _ tell: @escaping @Sendable () -> Void) {
        context.known.watch(every: UInt64(max(events, 1)), tell)
    }

    deinit { close() }

    /// Completes waiting jobs and closes the connections; later calls fail.
    public func close() {
        readers.close()
        keepers.close()
        writers.close()
    }
}

extension PostgreSQLVerificationStore {
    /// Registers the fingerprints of this process's keys, and returns the numbers that belong to
    /// other keys.
    ///
    /// Two machines that each create a key would give both keys the same number, and a digest keyed
    /// on one machine would be wrong on the other. The first key registered under a number
    /// therefore owns the number, and a machine whose key with this number is different must not
    /// use its key.
    ///
    /// - Parameter fingerprints: identify the keys; see ``KeyVersion/fingerprint``.
    /// - Returns: the numbers under which another machine registered a different key.
    public func claim(
        _ fingerprints: [KeyID: [UInt8]]
    ) throws(PostgreSQLStoreError) -> Set<KeyID> {
        try opening { () throws(PostgreSQLFailure) in
            let session = try PostgreSQLSession(context, [.claimKeys, .knownHeads])
            let wanted = fingerprints.sorted { $0.key < $1.key }
            var arguments = StatementArguments()
            arguments.add(wanted) { $0.key }
            arguments.add(wanted) { $0.value }
            let claimed = try session.run(.claimKeys, arguments)
                .all { row throws(PostgreSQLFailure) in
                    (try row.read() as KeyID, try row.requiredBytes())
                }
            return Set(claimed.filter { fingerprints[$0.0] != $0.1 }.map(\.0))
        }
    }
}

extension Array {
    /// Removes the first `count` elements and returns them.
    fileprivate mutating func takeFirst(_ count: Int) -> [Element] {
        defer { removeFirst(Swift.min(count, self.count)) }
        return Array(prefix(count))
    }
}
