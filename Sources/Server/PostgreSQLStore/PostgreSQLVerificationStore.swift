public import SQLStore
public import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

/// The store in a PostgreSQL database, for any number of processes on any number of machines.
///
/// By default, two connections read and one commits, each on its own thread; a further connection
/// is opened for pruning when needed. Waiting jobs are sent together: one round trip commits for
/// all waiting callers. Each connection that commits appends to its own event chain. The common
/// order of all chains comes from one row, so the transactions of all processes become durable one
/// after the other; group commits make up for that cost.
///
/// A broken connection is reopened; if the server closed it while it was idle, before the next call
/// uses it. If no connection can be opened, calls fail immediately, and the store retries at
/// growing intervals. If the database comes back without events that it acknowledged to this
/// process, the process stops using the database, which would accept spent codes again.
public final class PostgreSQLVerificationStore: Sendable {
    let key: AuditKey
    /// The values that all sessions share, except the clock.
    private let context: PostgreSQLSession.Context
    let readers: ConnectionPool<PostgreSQLSession, ReadJob>
    let writers: ConnectionPool<BatchWriter, CommitJob>
    let keepers: ConnectionPool<PostgreSQLSession, MaintenanceJob>

    /// The connections of a store: their maximum numbers, and how long they wait.
    public struct Connections: Sendable {
        /// The number of connections that read.
        public let reading: Int
        /// The number of connections that commit; each connection has its own event chain.
        public let writing: Int
        /// How long a statement may take; it waits for a lock for at most half that time.
        ///
        /// If the server does not answer at all, the first read waits one and a half times as long,
        /// and the first commit three times as long; later calls fail immediately until the server
        /// answers again.
        public let timeout: Duration

        /// Takes the numbers and the timeout; numbers below one become one.
        public init(reading: Int = 2, writing: Int = 1, timeout: Duration = .seconds(2)) {
            self.reading = max(reading, 1)
            self.writing = max(writing, 1)
            self.timeout = timeout
        }
    }

    /// Connects, and creates the tables (in a schema named `watchword`) if they are missing.
    ///
    /// Each schema step runs once, in the first process that connects.
    ///
    /// - Parameters:
    ///   - known: chain ends that an earlier process stored; see ``ends``.
    ///   - clock: this machine's clock in Unix milliseconds, which must not differ from the
    ///     database's by more than 10 s; `nil` stands for the system's.
    public init(
        connecting address: PostgreSQLAddress, key: AuditKey,
        known ends: [AcknowledgedCheckpoint] = [],
        connections: Connections = Connections(),
        clock unixMilliseconds: (@Sendable () -> Int64)? = nil
    ) throws(SQLStoreError) {
        self.key = key
        let known = AcknowledgedCheckpoints(ends)
        context = PostgreSQLSession.Context(
            address: address, timeout: connections.timeout, known: known)
        let clock = ClockComparison(unixMilliseconds ?? { SystemClock.unixMilliseconds() })
        try ends.expectAuthentic(key)
        try PostgreSQLConnection(address).updateSchema(timeout: connections.timeout)
        var deciding = context
        deciding.clock = clock
        let open: @Sendable (Bool) throws(StoreFailure) -> PostgreSQLSession = {
            [deciding] failsFast throws(StoreFailure) in
            try PostgreSQLSession(deciding, failsFast: failsFast)
        }
        let openWriter: @Sendable (Bool) throws(StoreFailure) -> BatchWriter = {
            failsFast throws(StoreFailure) in
            try BatchWriter(open(failsFast), key: key, known: known)
        }
        // Each connection that commits has an event chain from the start.
        var ready: [BatchWriter] = []
        for _ in 0..<connections.writing {
            ready.append(try SQLStoreError.store(in: openWriter(false)))
        }
        writers = try SQLStoreError.store(
            in: ConnectionPool(
                .init(
                    size: connections.writing, open: openWriter,
                    stands: { known.isSound && clock.isClose && $0.session.stands },
                    answers: { $0.session.answers }, take: CommitJob.take,
                    perform: { writer, jobs in writer.commit(jobs) },
                    refuse: { job, failure in job.finish(.failure(failure)) }),
                open: ready))
        readers = try SQLStoreError.store(
            in: ConnectionPool(
                .init(
                    size: connections.reading,
                    open: open,
                    stands: { known.isSound && clock.isClose && $0.stands },
                    answers: { $0.answers },
                    take: { $0.takeFirst(64) },
                    perform: { session, jobs in session.read(jobs) },
                    refuse: { job, failure in job.finish(.failure(failure)) })))
        keepers = try SQLStoreError.store(
            in: ConnectionPool(
                .init(
                    size: 1,
                    open: open,
                    stands: { known.isSound && clock.isClose && $0.stands },
                    answers: { $0.answers },
                    take: { $0.takeFirst(1) },
                    perform: { session, jobs in session.runHousekeeping(jobs) },
                    refuse: { job, failure in job.finish(.failure(failure)) })))
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
    /// Two machines that each create a key would give both keys the same number, and a digest that
    /// one machine keyed would be wrong on the other. The first key registered under a number
    /// therefore owns the number, and a machine whose key with this number is different must not
    /// use its key.
    ///
    /// - Parameter fingerprints: identify the keys; see ``KeyVersion/fingerprint``.
    /// - Returns: the numbers under which another machine registered a different key.
    public func claim(
        _ fingerprints: [KeyID: [UInt8]]
    ) throws(SQLStoreError) -> Set<KeyID> {
        let session = try SQLStoreError.store(in: PostgreSQLSession(context))
        let wanted = fingerprints.sorted { $0.key < $1.key }
        var arguments = StatementArguments()
        arguments.add(wanted) { $0.key }
        arguments.add(wanted) { $0.value }
        let claimed = try SQLStoreError.store(
            in: session.run(.claimKeys, arguments).all { row throws(StoreFailure) in
                (try row.read() as KeyID, try row.requiredBytes())
            })
        return Set(claimed.filter { fingerprints[$0.0] != $0.1 }.map(\.0))
    }
}

extension Array {
    /// Removes the first `count` elements and returns them.
    fileprivate mutating func takeFirst(_ count: Int) -> [Element] {
        defer { removeFirst(Swift.min(count, self.count)) }
        return Array(prefix(count))
    }
}

extension PostgreSQLVerificationStore {
    /// Checks all events and rows in one snapshot; other connections can keep writing.
    ///
    /// The audit cannot detect that events were cut off together with the recorded end of their
    /// chain, unless a checkpoint of one of these events is known.
    ///
    /// - Parameter checkpoints: checkpoints kept elsewhere; see ``ends`` and
    ///   ``ChainCheckpoint/text``.
    public static func audit(
        at address: PostgreSQLAddress, key: AuditKey, checkpoints: [ChainCheckpoint] = [],
        timeout: Duration = .seconds(10)
    ) throws(SQLStoreError) -> AuditReport {
        let session = try PostgreSQLSession.reading(address, timeout: timeout)
        // A transaction reads a single snapshot, even if events are appended in the meantime.
        _ = try SQLStoreError.store(
            in: session.run([.text("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]))
        return try SQLStoreError.store(in: session.audit(checkpoints: checkpoints, key: key))
    }

    /// Lists the credentials that rows or events show as revoked or disabled, ordered by id, even
    /// if those rows and events are not authentic.
    ///
    /// An earlier backup does not show that they ended; see
    /// ``settle(_:key:_:timeout:)``.
    public static func endedCredentials(
        at address: PostgreSQLAddress, timeout: Duration = .seconds(10)
    ) throws(SQLStoreError) -> EndedCredentials {
        let session = try PostgreSQLSession.reading(address, timeout: timeout)
        var found: Set<CredentialID> = []
        try SQLStoreError.store(in: session.readEndedRows(into: &found))
        try SQLStoreError.store(in: session.readEndingEvents(into: &found))
        return EndedCredentials(credentials: found)
    }
}

extension PostgreSQLSession {
    /// Connects to a database, perhaps of an earlier release, to read all of it.
    fileprivate static func reading(
        _ address: PostgreSQLAddress, timeout: Duration
    ) throws(SQLStoreError) -> PostgreSQLSession {
        let step = try PostgreSQLConnection(address).expectTables()
        return try SQLStoreError.store(
            in: PostgreSQLSession(Context(address: address, timeout: timeout), auditing: step))
    }
}

extension [AcknowledgedCheckpoint] {
    func expectAuthentic(_ key: AuditKey) throws(SQLStoreError) {
        for end in self {
            guard key.isAuthentic(end.mark) else { throw .forgedCheckpoint }
        }
    }
}
