public import SQLStore
public import Verification
internal import WatchwordCryptography

extension PostgreSQLVerificationStore {
    /// Returns whether the database contains the tables.
    ///
    /// If the tables exist, a missing key file is lost (`KeyRing.init(at:isStoreKnown:)`).
    ///
    /// - Throws: ``SQLStoreError/unreachable(_:)`` or ``SQLStoreError/store(_:)``.
    public static func exists(_ address: PostgreSQLAddress) throws(SQLStoreError) -> Bool {
        let connection = try PostgreSQLConnection(address)
        return try SQLStoreError.store(in: connection.takenSteps()) > 0
    }

    /// Invalidates every code and secret that may have been spent in commits that a rollback of the
    /// database lost.
    ///
    /// A database needs this recovery if it was restored from a backup, or if its standby took over
    /// without the last commits. Afterwards the database refuses every code and secret that could
    /// have been accepted before ``RestoreOptions/now``;
    /// ``CredentialRow/afterRestoring(at:hasEnded:)`` defines this for each kind of credential.
    /// Tickets, challenges and recorded responses are deleted. The existing event chains are
    /// closed; new events go into new chains.
    ///
    /// The recovery is one transaction; other commits wait for it.
    ///
    /// - Returns: a report that includes the new chain's end, which replaces all stored ends; see
    ///   ``ends``.
    /// - Throws: ``SQLStoreError/clockBehind(_:)`` if an event is newer than the
    ///   clock.
    public static func settle(
        _ address: PostgreSQLAddress, key: AuditKey, _ options: RestoreOptions,
        timeout: Duration = .seconds(60)
    ) throws(SQLStoreError) -> (report: RestoreReport, end: AcknowledgedCheckpoint) {
        let connection = try PostgreSQLConnection(address)
        try connection.expectTables()
        try connection.updateSchema(timeout: timeout)
        let session = try SQLStoreError.store(
            in: PostgreSQLSession(
                PostgreSQLSession.Context(address: address, timeout: timeout)))
        var recovery = try SQLStoreError.store(in: FailoverRecovery(session, key: key))
        // If the clock is behind, closing the connection rolls back its transaction.
        let options = try options.checked(against: recovery.newest ?? options.now)
        return try SQLStoreError.store(in: recovery.run(options))
    }
}

/// The transaction that makes a rolled-back database usable again.
struct FailoverRecovery {
    private let session: PostgreSQLSession
    private let key: AuditKey
    /// The time of the newest stored event; `nil` if there are no events.
    let newest: UnixTime?
    private var lease: ChainLease
    private var position: UInt64 = 0

    /// Begins the transaction; other sessions can still read, but their writes wait.
    init(_ session: PostgreSQLSession, key: AuditKey) throws(StoreFailure) {
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
        let chains = try begun.last?.all { row throws(StoreFailure) in try row.chain() }
        let last = try LastEvents(of: chains ?? [], session.events(after:limit:))
        guard last.areAuthentic(key) else { throw .chain }
        newest = last.newest
        lease = try ChainLease(beginning: node, on: session, key: key)
    }

    mutating func run(
        _ options: RestoreOptions
    ) throws(StoreFailure) -> (report: RestoreReport, end: AcknowledgedCheckpoint) {
        let (session, key) = (session, key)
        let (kept, ended) = try session.restoreCredentials(options, key: key) {
            page throws(StoreFailure) in
            let (rows, events) = changes(page.map { ($0.row, $0.event) }, RowMark.init)
            try append(events, [.run(.updateCredentials, StatementArguments(placing: rows))])
        }
        let clients = try session.revokedClients(options, key: key)
        if !clients.isEmpty {
            let (rows, events) = changes(clients, RowMark.init)
            try append(events, [.run(.updateClients, StatementArguments(placing: rows))])
        }
        try append([RecordedEvent(Event(.restored, time: options.now, number: Int64(ended)))], [])
        _ = try session.run([
            .text("DELETE FROM tickets"), .text("DELETE FROM challenges"),
            .text("DELETE FROM answers"), .text("DELETE FROM decoys"), .text("COMMIT"),
        ])
        return (
            RestoreReport(kept: kept, ended: ended, clientsRevoked: clients.count),
            AcknowledgedCheckpoint(mark: lease.chain.head(), position: position)
        )
    }

    /// The rows with their authentication codes, and an event for each row that records it.
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
    ) throws(StoreFailure) {
        var chain = lease.chain
        let results = try session.run(commands + [lease.append(events, to: &chain)])
        let last: UInt64? = try results.last?.first()
        guard let last else { throw .invalidRow }
        position = last
        lease.move(to: chain, at: position)
    }
}
