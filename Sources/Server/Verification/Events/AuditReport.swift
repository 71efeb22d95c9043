internal import WatchwordCryptography

/// The result of an audit of a database.
public struct AuditReport: Hashable, Sendable {
    /// Problems in the event chains; empty if there are none.
    public let findings: [AuditTrail.Finding]
    /// Problems in the rows; empty if there are none, or if the database's structure is damaged.
    public let rows: [RowAudit.Finding]
    /// The number of events.
    public let events: Int
    /// The end of each chain.
    ///
    /// Kept outside the database, these checkpoints reveal a later rollback to an earlier state.
    public let marks: [ChainCheckpoint]
    /// Whether the database's structure is intact, as far as the store checks it.
    ///
    /// SQLite checks it with `PRAGMA integrity_check`; PostgreSQL reports damage when it reads a
    /// page.
    public let isSound: Bool
}

extension StoreSnapshot {
    /// Checks all events and rows, which must be read in one transaction.
    ///
    /// - Parameter isSound: whether the database's structure is intact; if not, some rows cannot be
    ///   read, so none are checked.
    package func audit(
        isSound: Bool = true, checkpoints: [ChainCheckpoint], key: AuditKey
    ) throws(Failure) -> AuditReport {
        let records = try chains()
        // Every database has had a chain since it was created.
        guard !records.isEmpty else { throw .chain }
        var trail = AuditTrail(chains: records, checkpoints: checkpoints, key: key)
        var rows = RowAudit(chains: records, key: key)
        var count = 0
        try StoreWalk.events(events(after:limit:)) { page throws(Failure) in
            for event in page {
                trail.check(event)
                rows.take(event)
            }
            count += page.count
        }
        if isSound {
            try check(.credentialsByID, &rows) { row throws(Failure) in try row.credential(key) }
            try check(.ticketsByDigest, &rows) { row throws(Failure) in try row.ticket(key) }
            if try hasChallenges {
                try check(.challengesByDigest, &rows) { row throws(Failure) in
                    try row.challenge(key)
                }
            }
            try check(.answersByKey, &rows) { row throws(Failure) in try row.answer(key) }
            try check(.clientsByID, &rows) { row throws(Failure) in try row.client(key) }
        }
        return AuditReport(
            findings: trail.findings(), rows: isSound ? rows.findings() : [], events: count,
            marks: records.map(\.head), isSound: isSound)
    }

    /// Checks every row of a table.
    private func check<Stored: StoredRow>(
        _ statement: Statement, _ audit: inout RowAudit,
        _ read: (inout Row) throws(Failure) -> Stored
    ) throws(Failure) {
        try StoreWalk.rows(
            { key, limit throws(Failure) in
                try rows(statement, from: key, limit: limit) { row throws(Failure) in
                    try row.audited(read)
                }
            }, key: \.key
        ) { page throws(Failure) in
            audit.check(page)
        }
    }
}
