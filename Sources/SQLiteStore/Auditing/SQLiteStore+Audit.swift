internal import Cryptography
internal import POSIX
public import Verification

/// The result of an audit of a database.
public struct AuditReport: Hashable, Sendable {
    /// Problems in the event chains; empty if there are none.
    public let findings: [AuditTrail.Finding]
    /// Problems in the rows; empty if there are none, or if the file's structure is damaged.
    public let rows: [RowAudit.Finding]
    /// The number of events.
    public let events: Int
    /// The end of each chain.
    ///
    /// Kept outside the database, these checkpoints reveal a later rollback to an earlier state.
    public let marks: [ChainCheckpoint]
    /// Whether SQLite's `PRAGMA integrity_check` passed.
    public let isSound: Bool
}

extension SQLiteStore {
    /// Checks all events and rows in one snapshot; other connections can keep writing.
    ///
    /// The audit also checks the chain checkpoint beside the database. It cannot detect that events
    /// were cut off together with the recorded end of their chain, unless a checkpoint of a later
    /// event was kept.
    ///
    /// - Parameter checkpoints: further checkpoints, kept elsewhere; see ``ChainCheckpoint/text``.
    public func audit(checkpoints: [ChainCheckpoint] = []) throws(SQLiteStoreError) -> AuditReport {
        let folder = try location.openFolder(making: false)
        let session = try location.openForReading()
        let kept = try location.keptMark(in: folder)
        return try session.audit((kept.map { [$0] } ?? []) + checkpoints, key: key)
    }

    /// Audits a database, or a copy of one, that is not open in this process.
    ///
    /// Writes nothing except SQLite's own files beside the database.
    public static func audit(
        at path: String, key: AuditKey, checkpoints: [ChainCheckpoint] = []
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
    /// Opens the file for one long read.
    ///
    /// Needs write access: SQLite first recovers a log that a crash left behind.
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
        _ marks: [ChainCheckpoint], key: AuditKey
    ) throws(SQLiteStoreError) -> AuditReport {
        try opening { () throws(MemberFailure) in
            // A transaction reads a single snapshot, even if events are appended in the meantime.
            try database { () throws(SQLiteFailure) in try connection.execute("BEGIN") }
            let isSound = try database { () throws(SQLiteFailure) in
                try connection.prepare("PRAGMA integrity_check(1)")
                    .first { row throws(SQLiteFailure) in try row.requiredText() } == "ok"
            }
            let records = try database { () throws(SQLiteFailure) in try chains() }
            // Every database has had a chain since it was created.
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
            // If the file's structure is damaged, some rows cannot be read.
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

    /// Checks every row of a table.
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
