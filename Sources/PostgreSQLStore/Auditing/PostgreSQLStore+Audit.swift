internal import Cryptography
public import Verification

/// What an audit found in a database.
public struct PostgreSQLAuditReport: Hashable, Sendable {
    /// What is wrong with the chains of events; empty when nothing is.
    public let findings: [AuditTrail.Finding]
    /// What is wrong with the rows; empty when nothing is.
    public let rows: [RowAudit.Finding]
    /// How many events there are.
    public let events: Int
    /// Where each chain ends: kept elsewhere, they tell a database that was put back to an earlier state.
    public let marks: [ChainMark]
}

extension PostgreSQLStore {
    /// Goes through all events and rows, as they are at one moment; others go on writing meanwhile.
    ///
    /// What an audit can't see: events that were cut off together with the recorded end, where no mark
    /// was kept of what is missing.
    ///
    /// - Parameter checkpoints: marks that were kept elsewhere; see ``ends`` and ``ChainMark/text``.
    public static func audit(
        at address: PostgreSQLAddress, key: AuditKey, checkpoints: [ChainMark] = [],
        timeout: Duration = .seconds(10)
    ) throws(PostgreSQLStoreError) -> PostgreSQLAuditReport {
        try PostgreSQLConnection.opening(address).expectTables()
        do throws(PostgreSQLFailure) {
            let session = try PostgreSQLSession(
                address, StoreStatement.auditing, timeout: timeout, known: KnownHeads())
            return try session.audit(checkpoints, key: key)
        } catch {
            throw PostgreSQLStoreError(error)
        }
    }
}

extension PostgreSQLSession {
    fileprivate func audit(
        _ marks: [ChainMark], key: AuditKey
    ) throws(PostgreSQLFailure) -> PostgreSQLAuditReport {
        // One transaction sees one moment, whatever is appended meanwhile.
        let begun = try run([
            .text("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), .run(.chains, .none),
        ])
        let records = try begun[1].all { row throws(PostgreSQLFailure) in try row.chain() }
        // Every database has one from the beginning.
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

    /// Has all rows of a table checked.
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

/// Makes OpenSSL's failure a session's.
func cryptography<Result>(
    _ body: () throws(CryptographyFailure) -> Result
) throws(PostgreSQLFailure) -> Result {
    do { return try body() } catch { throw .cryptography }
}

extension [ChainEnd] {
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
