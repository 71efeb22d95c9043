internal import Cryptography
public import Verification

/// The result of an audit of a database.
public struct PostgreSQLAuditReport: Hashable, Sendable {
    /// Problems in the event chains; empty if there are none.
    public let findings: [AuditTrail.Finding]
    /// Problems in the rows; empty if there are none.
    public let rows: [RowAudit.Finding]
    /// The number of events.
    public let events: Int
    /// The end of each chain.
    ///
    /// Kept outside the database, these checkpoints reveal a later rollback to an earlier state.
    public let marks: [ChainCheckpoint]
}

extension PostgreSQLStore {
    /// Checks all events and rows in one snapshot; other connections can keep writing.
    ///
    /// The audit cannot detect that events were cut off together with the recorded end of their
    /// chain, unless a checkpoint of a later event was kept.
    ///
    /// - Parameter checkpoints: checkpoints kept elsewhere; see ``ends`` and
    ///   ``ChainCheckpoint/text``.
    public static func audit(
        at address: PostgreSQLAddress, key: AuditKey, checkpoints: [ChainCheckpoint] = [],
        timeout: Duration = .seconds(10)
    ) throws(PostgreSQLStoreError) -> PostgreSQLAuditReport {
        try PostgreSQLConnection.opening(address).expectTables()
        do throws(PostgreSQLFailure) {
            let session = try PostgreSQLSession(
                address, StoreStatement.auditing, timeout: timeout, known: AcknowledgedCheckpoints()
            )
            return try session.audit(checkpoints, key: key)
        } catch {
            throw PostgreSQLStoreError(error)
        }
    }
}

extension PostgreSQLSession {
    fileprivate func audit(
        _ marks: [ChainCheckpoint], key: AuditKey
    ) throws(PostgreSQLFailure) -> PostgreSQLAuditReport {
        // A transaction reads a single snapshot, even if events are appended in the meantime.
        let begun = try run([
            .text("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), .run(.chains, .none),
        ])
        let records = try begun[1].all { row throws(PostgreSQLFailure) in try row.chain() }
        // Every database has had a chain since it was created.
        guard !records.isEmpty else { throw .chain }
        var trail = try cryptography { () throws(CryptographyFailure) in
            try AuditTrail(chains: records, checkpoints: marks, key: key)
        }
        var rows = RowAudit(chains: records, key: key)
        var count = 0
        try StoreWalk.events(events(after:limit:)) { page throws(PostgreSQLFailure) in
            try cryptography { () throws(CryptographyFailure) in
                for event in page {
                    try trail.check(event)
                    rows.take(event)
                }
            }
            count += page.count
        }
        try check(.credentialsByID, &rows) { row throws(PostgreSQLFailure) in
            try row.credential(key)
        }
        try check(.ticketsByDigest, &rows) { row throws(PostgreSQLFailure) in try row.ticket(key) }
        try check(.answersByKey, &rows) { row throws(PostgreSQLFailure) in try row.answer(key) }
        try check(.clientsByID, &rows) { row throws(PostgreSQLFailure) in try row.client(key) }
        return PostgreSQLAuditReport(
            findings: trail.findings(), rows: rows.findings(), events: count,
            marks: records.map(\.head))
    }

    /// Checks every row of a table.
    private func check<Row: StoredRow>(
        _ statement: StoreStatement, _ audit: inout RowAudit,
        _ read: (inout PostgreSQLRow) throws(PostgreSQLFailure) -> Row
    ) throws(PostgreSQLFailure) {
        try StoreWalk.rows(
            { last, limit throws(PostgreSQLFailure) in
                var arguments = StatementArguments()
                arguments.add(last)
                arguments.add(Int64(limit))
                return try run(statement, arguments)
                    .all { row throws(PostgreSQLFailure) in try row.audited(read) }
            }, key: \.key
        ) { page throws(PostgreSQLFailure) in
            try cryptography { () throws(CryptographyFailure) in try audit.check(page) }
        }
    }
}

/// Converts an OpenSSL failure to a session's failure.
func cryptography<Result>(
    _ body: () throws(CryptographyFailure) -> Result
) throws(PostgreSQLFailure) -> Result {
    do { return try body() } catch { throw .cryptography }
}

extension [AcknowledgedCheckpoint] {
    func expectAuthentic(_ key: AuditKey) throws(PostgreSQLStoreError) {
        for end in self {
            let isAuthentic: Bool
            do { isAuthentic = try key.isAuthentic(end.mark) } catch {
                throw PostgreSQLStoreError(.cryptography)
            }
            guard isAuthentic else { throw .forgedEnd }
        }
    }
}
