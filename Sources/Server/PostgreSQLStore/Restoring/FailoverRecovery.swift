internal import SQLStore
public import Verification
internal import WatchwordCryptography

/// The result of failover recovery.
public struct FailoverRecoveryReport: Hashable, Sendable {
    /// The number of credentials that stay active, but refuse all codes from before the recovery.
    public let kept: Int
    /// The number of credentials that the recovery ended, because it is unknown what was spent in
    /// the lost commits.
    public let ended: Int
    /// The number of API keys that the recovery revoked, because later revocations are unknown.
    public let clientsRevoked: Int
}

extension PostgreSQLVerificationStore {
    /// Returns whether the tables exist.
    public static func exists(_ address: PostgreSQLAddress) throws(PostgreSQLStoreError) -> Bool {
        let connection = try PostgreSQLConnection.connecting(to: address)
        return try opening { () throws(PostgreSQLFailure) in try connection.takenSteps() > 0 }
    }

    /// Ends everything that may have been spent in commits that were lost when a database was
    /// rolled back.
    ///
    /// A database needs this if it was restored from a backup, or if its standby took over without
    /// the last commits. Afterwards it refuses every code and secret that could have been accepted
    /// before `now`; ``CredentialRow/afterRestoring(at:hasEnded:)`` defines this for each kind of
    /// credential. Tickets, challenges and recorded responses are deleted. The existing event chains
    /// are closed; new events go into new chains.
    ///
    /// The recovery is one transaction; other commits wait for it.
    ///
    /// - Parameters:
    ///   - ended: credentials known to have ended, even if the database does not show it; see
    ///     ``endedCredentials(at:timeout:)``.
    ///   - now: the current time. It permanently decides what is refused, so the caller must know
    ///     that it is correct.
    ///   - isTrusted: whether to continue if an event is newer than `now`; if so, the time of the
    ///     newest event is used in place of `now`.
    /// - Returns: a report that includes the new chain's end, which replaces all stored ends; see
    ///   ``ends``.
    /// - Throws: ``PostgreSQLStoreError/clockBehind(_:)`` if an event is newer than `now`.
    public static func settle(
        _ address: PostgreSQLAddress, key: AuditKey, keepingClients: Bool = false,
        ended: Set<CredentialID> = [], now: UnixTime, trustingClock isTrusted: Bool = false,
        timeout: Duration = .seconds(60)
    ) throws(PostgreSQLStoreError) -> (report: FailoverRecoveryReport, end: AcknowledgedCheckpoint)
    {
        let connection = try PostgreSQLConnection.connecting(to: address)
        try connection.expectTables()
        try connection.updateSchema(timeout: timeout)
        let newest: UnixTime
        do throws(PostgreSQLFailure) {
            let session = try PostgreSQLSession(
                PostgreSQLSession.Context(address: address, timeout: timeout),
                FailoverRecovery.statements)
            var recovery = try FailoverRecovery(session, key: key, now: now)
            newest = recovery.newest
            if isTrusted || now >= newest {
                return try recovery.run(keepingClients: keepingClients, ended: ended)
            }
        } catch {
            throw PostgreSQLStoreError(error)
        }
        // Closing the connection rolls back its transaction.
        throw .clockBehind(newest)
    }
}

/// The transaction that makes a database usable again after it was rolled back.
struct FailoverRecovery {
    static let statements: [StoreStatement] = [
        .credentialsByID, .clients, .updateCredentials, .updateClients, .appendEvents,
        .chains, .events, .closeChains, .beginChain, .leap,
    ]

    private let session: PostgreSQLSession
    private let key: AuditKey
    private let now: UnixTime
    /// When the newest stored event happened.
    let newest: UnixTime
    private var lease: ChainLease
    private var position: UInt64 = 0

    /// Begins the transaction; other sessions can read, but wait before they write.
    init(_ session: PostgreSQLSession, key: AuditKey, now: UnixTime) throws(PostgreSQLFailure) {
        self.session = session
        self.key = key
        let node = Randomness.bytes(count: 16)
        let begun = try session.run([
            .text("BEGIN ISOLATION LEVEL READ COMMITTED"),
            .text(
                "LOCK TABLE credentials, tickets, challenges, answers, clients, chains, counter, "
                    + "events IN EXCLUSIVE MODE"),
            .run(.closeChains), .run(.leap, StatementArguments(PostgreSQLSession.positionGap)),
            .run(.chains),
        ])
        let chains = try begun.last?.all { row throws(PostgreSQLFailure) in try row.chain() }
        let last = try LastEvents(of: chains ?? [], session.events(after:limit:))
        let areAuthentic = last.areAuthentic(key)
        guard areAuthentic else { throw .chain }
        newest = last.newest ?? now
        self.now = max(now, newest)
        lease = try ChainLease(beginning: node, on: session, key: key)
    }

    mutating func run(
        keepingClients: Bool, ended known: Set<CredentialID>
    ) throws(PostgreSQLFailure) -> (report: FailoverRecoveryReport, end: AcknowledgedCheckpoint) {
        let (kept, ended) = try renewCredentials(known)
        let clients = try keepingClients ? 0 : revokeClients()
        try append([RecordedEvent(Event(.restored, time: now, number: Int64(ended)))], [])
        _ = try session.run([
            .text("DELETE FROM tickets"), .text("DELETE FROM challenges"),
            .text("DELETE FROM answers"), .text("DELETE FROM decoys"), .text("COMMIT"),
        ])
        let head = lease.chain.head()
        return (
            FailoverRecoveryReport(kept: kept, ended: ended, clientsRevoked: clients),
            AcknowledgedCheckpoint(mark: head, position: position)
        )
    }

    private mutating func renewCredentials(
        _ known: Set<CredentialID>
    ) throws(PostgreSQLFailure) -> (kept: Int, ended: Int) {
        let (session, key) = (session, key)
        return try session.restoreCredentials(at: now, ended: known, key: key) {
            page throws(PostgreSQLFailure) in
            let (rows, events) = changes(page.map { ($0.row, $0.event) }, RowMark.init)
            try append(events, [.run(.updateCredentials, StatementArguments(placing: rows))])
        }
    }

    private mutating func revokeClients() throws(PostgreSQLFailure) -> Int {
        let revoked = try session.revokedClients(at: now, key: key)
        guard !revoked.isEmpty else { return 0 }
        let (rows, events) = changes(revoked, RowMark.init)
        try append(events, [.run(.updateClients, StatementArguments(placing: rows))])
        return revoked.count
    }

    /// The rows with their authentication codes, and an event for each, which records its row.
    private func changes<Row: StoredRow>(
        _ changes: [(row: Row, event: Event)], _ mark: (Row, [UInt8]) -> RowMark
    ) -> (rows: [BatchRow<Row>], events: [RecordedEvent]) {
        var rows: [BatchRow<Row>] = []
        var events: [RecordedEvent] = []
        for (row, event) in changes {
            let code = key.code(of: row)
            rows.append(BatchRow(member: rows.count, row: row, code: code))
            events.append(RecordedEvent(event, rows: [mark(row, code)]))
        }
        return (rows, events)
    }

    /// Applies the changes, and appends the events.
    private mutating func append(
        _ events: [RecordedEvent], _ commands: [PipelineCommand]
    ) throws(PostgreSQLFailure) {
        var chain = lease.chain
        let results = try session.run(commands + [lease.append(events, to: &chain)])
        let last: UInt64? = try results.last?.first { row throws(PostgreSQLFailure) in
            try row.read()
        }
        guard let last else { throw .invalidRow }
        position = last
        lease.move(to: chain, at: position)
    }
}
