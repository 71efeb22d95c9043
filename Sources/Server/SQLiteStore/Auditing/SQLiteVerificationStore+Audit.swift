public import Verification
internal import WatchwordSystem

extension SQLiteVerificationStore {
    /// Checks all events and rows in one snapshot; other connections can keep writing.
    ///
    /// The audit also checks the chain checkpoint beside the database. It cannot detect that events
    /// were cut off together with the recorded end of their chain, unless a checkpoint of one of
    /// these events was kept.
    ///
    /// - Parameter checkpoints: further checkpoints, kept elsewhere; see ``ChainCheckpoint/text``.
    public func audit(checkpoints: [ChainCheckpoint] = []) throws(SQLiteStoreError) -> AuditReport {
        let folder = try location.openFolder(making: false)
        let session = try location.openForReading()
        let kept = try location.savedCheckpoint(in: folder)
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
        guard try location.exists(in: folder) else { throw .notPrivate(.missing) }
        let session = try location.openForReading()
        _ = try session.connection.requireOwnFile()
        let kept = try location.savedCheckpoint(in: folder)
        return try session.audit((kept.map { [$0] } ?? []) + checkpoints, key: key)
    }
}

extension DatabaseLocation {
    /// Opens the file for one long read.
    ///
    /// Needs write access: SQLite first recovers a log that a crash left behind.
    func openForReading() throws(SQLiteStoreError) -> SQLiteSession {
        try opening { () throws(SQLiteFailure) in
            let connection = try SQLiteConnection(path: path, .readWrite, timeout: .seconds(2))
            try connection.execute("PRAGMA query_only = ON")
            return SQLiteSession(connection)
        }
    }
}

extension SQLiteSession {
    fileprivate func audit(
        _ marks: [ChainCheckpoint], key: AuditKey
    ) throws(SQLiteStoreError) -> AuditReport {
        try opening { () throws(SQLiteFailure) in
            // A transaction reads a single snapshot, even if events are appended in the meantime.
            try connection.execute("BEGIN")
            let isSound =
                try connection.prepare("PRAGMA integrity_check(1)")
                .first { row throws(SQLiteFailure) in try row.requiredText() } == "ok"
            return try audit(isSound: isSound, checkpoints: marks, key: key)
        }
    }
}
