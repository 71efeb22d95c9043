internal import Cryptography
internal import POSIX
public import Verification

/// What an audit found in a database.
public struct AuditReport: Hashable, Sendable {
    /// What is wrong with the chains of events; empty when nothing is.
    public let findings: [AuditTrail.Finding]
    /// What is wrong with the rows; empty when nothing is, or when the file is not sound.
    public let rows: [RowAudit.Finding]
    /// How many events there are.
    public let events: Int
    /// Where each chain ends: kept elsewhere, they tell a database that was put back to an earlier state.
    public let marks: [ChainMark]
    /// Whether SQLite finds the file's structure whole (`PRAGMA integrity_check`).
    public let isSound: Bool
}

extension SQLiteStore {
    /// Goes through all events and rows, as they are at one moment; others go on writing meanwhile.
    ///
    /// The mark beside the database is taken along. What an audit can't see: events that were cut
    /// off together with the recorded end, where no mark was kept of what is missing.
    ///
    /// - Parameter checkpoints: more marks, which were kept elsewhere; see ``ChainMark/text``.
    public func audit(checkpoints: [ChainMark] = []) throws(SQLiteStoreError) -> AuditReport {
        let folder = try location.openFolder(making: false)
        let session = try location.openForReading()
        let kept = try location.keptMark(in: folder)
        return try session.audit((kept.map { [$0] } ?? []) + checkpoints, key: key)
    }

    /// The same for a database, or a copy of one, that nobody need have opened.
    ///
    /// Nothing is written but SQLite's own files beside it.
    public static func audit(
        at path: String, key: AuditKey, checkpoints: [ChainMark] = []
    ) throws(SQLiteStoreError) -> AuditReport {
        let location = DatabaseLocation(path)
        let folder = try location.openFolder(making: false)
        guard try location.isThere(in: folder) else { throw .notPrivate(.missing) }
        let session = try location.openForReading()
        _ = try session.connection.expectOurs()
        let kept = try location.keptMark(in: folder)
        return try session.audit((kept.map { [$0] } ?? []) + checkpoints, key: key)
    }
}

extension DatabaseLocation {
    /// Opens the file for one long reading.
    ///
    /// Reading alone may need the right to write: a log that a crash left is taken in first.
    func openForReading() throws(SQLiteStoreError) -> SQLiteSession {
        do throws(SQLiteFailure) {
            let connection = try SQLiteConnection(path: path, .readWrite, timeout: .seconds(2))
            try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;")
            return SQLiteSession(connection)
        } catch {
            throw SQLiteStoreError(error)
        }
    }
}

extension SQLiteSession {
    fileprivate func audit(
        _ marks: [ChainMark], key: AuditKey
    ) throws(SQLiteStoreError) -> AuditReport {
        try opening { () throws(MemberFailure) in
            // One transaction sees one moment, whatever is appended meanwhile.
            try database { () throws(SQLiteFailure) in try connection.execute("BEGIN") }
            let isSound = try database { () throws(SQLiteFailure) in
                try connection.prepare("PRAGMA integrity_check(1)")
                    .first { row throws(SQLiteFailure) in try row.requiredText() } == "ok"
            }
            let records = try database { () throws(SQLiteFailure) in try chains() }
            // Every database has one from the beginning.
            guard !records.isEmpty else { throw .chain }
            var trail = try cryptography { () throws(CryptographyFailure) in
                try AuditTrail(chains: records, checkpoints: marks, key: key)
            }
            var rows = RowAudit(chains: records, key: key)
            var count = 0
            try StoreWalk.events { position, limit throws(MemberFailure) in
                try database { () throws(SQLiteFailure) in
                    try events(after: position, limit: limit)
                }
            } _: { page throws(MemberFailure) in
                try cryptography { () throws(CryptographyFailure) in
                    for event in page {
                        try trail.check(event)
                        rows.take(event)
                    }
                }
                count += page.count
            }
            // Of a file whose structure is damaged not every row can be read.
            if isSound { try checkRows(key, &rows) }
            return AuditReport(
                findings: trail.findings(), rows: isSound ? rows.findings() : [], events: count,
                marks: records.map(\.head), isSound: isSound)
        }
    }

    private func checkRows(_ key: AuditKey, _ audit: inout RowAudit) throws(MemberFailure) {
        try check(.credentialsByID, &audit) { row throws(SQLiteFailure) in
            try row.credential(key)
        }
        try check(.ticketsByDigest, &audit) { row throws(SQLiteFailure) in try row.ticket(key) }
        try check(.answersByKey, &audit) { row throws(SQLiteFailure) in try row.answer(key) }
        try check(.clientsByID, &audit) { row throws(SQLiteFailure) in try row.client(key) }
    }

    /// Has all rows of a table checked.
    private func check<Row: StoredRow>(
        _ statement: StoreStatement, _ audit: inout RowAudit,
        _ read: (SQLiteStatement) throws(SQLiteFailure) -> Row
    ) throws(MemberFailure) {
        try StoreWalk.rows(
            { last, limit throws(MemberFailure) in
                try database { () throws(SQLiteFailure) in
                    try self[statement].bind(last).bind(Int64(limit))
                        .all { row throws(SQLiteFailure) in try row.audited(read) }
                }
            }, key: \.key
        ) { page throws(MemberFailure) in
            try cryptography { () throws(CryptographyFailure) in try audit.check(page) }
        }
    }
}
