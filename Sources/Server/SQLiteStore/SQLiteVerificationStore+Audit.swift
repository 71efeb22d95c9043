public import SQLStore
public import Verification
internal import WatchwordSystem

extension SQLiteVerificationStore {
    /// Checks all events and rows in one snapshot; other connections can keep writing.
    ///
    /// The audit also checks the chain checkpoint beside the database. It cannot detect that events
    /// were cut off together with the recorded end of their chain, unless a checkpoint of one of
    /// these events is known.
    ///
    /// - Parameter checkpoints: further checkpoints, kept elsewhere; see ``ChainCheckpoint/text``.
    public func audit(checkpoints: [ChainCheckpoint] = []) throws(SQLStoreError) -> AuditReport {
        let folder = try location.openFolder(making: false)
        let session = try SQLStoreError.store(in: location.openSession())
        let kept = try location.savedCheckpoint(in: folder)
        return try SQLStoreError.store(
            in: session.audit((kept.map { [$0] } ?? []) + checkpoints, key: key))
    }

    /// Audits a database, or a copy of one, that is not open in this process.
    ///
    /// Writes nothing except SQLite's own files beside the database.
    public static func audit(
        at path: String, key: AuditKey, checkpoints: [ChainCheckpoint] = []
    ) throws(SQLStoreError) -> AuditReport {
        let location = DatabaseLocation(path)
        let folder = try location.openFolder(making: false)
        guard try location.exists(in: folder) else { throw .notPrivate(.missing) }
        let session = try location.openForReading()
        let kept = try location.savedCheckpoint(in: folder)
        return try SQLStoreError.store(
            in: session.audit((kept.map { [$0] } ?? []) + checkpoints, key: key))
    }

    /// Lists the credentials that were revoked or disabled, as far as they can be read from the
    /// database at `path`.
    ///
    /// Use it on a database that a backup is about to replace, so that the backup does not revive
    /// these credentials. Reads rows and events as far as possible, even if they are not authentic:
    /// at worst, a forged one ends a credential. Writes nothing except SQLite's own files beside
    /// the database.
    public static func endedCredentials(at path: String) throws(SQLStoreError)
        -> EndedCredentials
    {
        let location = DatabaseLocation(path)
        let folder = try location.openFolder(making: false)
        guard try location.exists(in: folder) else { throw .notPrivate(.missing) }
        let session = try location.openForReading()
        var found: Set<CredentialID> = []
        var isComplete = true
        do { try session.readEndedRows(into: &found) } catch { isComplete = false }
        do { try session.readEndingEvents(into: &found) } catch { isComplete = false }
        return EndedCredentials(credentials: found, isComplete: isComplete)
    }
}

extension DatabaseLocation {
    func openSession(timeout: Duration = .seconds(2)) throws(StoreFailure) -> SQLiteSession {
        SQLiteSession(try SQLiteConnection(path: path, .readWrite, timeout: timeout))
    }

    /// Opens the file, perhaps of an earlier release, for one long read.
    ///
    /// Needs write access: SQLite first recovers a log that a crash left behind. Refuses the file
    /// of another program or of a newer version, and a changed schema.
    func openForReading() throws(SQLStoreError) -> SQLiteSession {
        let connection = try SQLStoreError.store(
            in: SQLiteConnection(path: path, .readWrite, timeout: .seconds(2)))
        try SQLStoreError.store(in: connection.execute("PRAGMA query_only = ON"))
        let step = try connection.requireOwnFile()
        return SQLiteSession(connection, step: step)
    }
}

extension SQLiteSession {
    fileprivate func audit(
        _ marks: [ChainCheckpoint], key: AuditKey
    ) throws(StoreFailure) -> AuditReport {
        // A transaction reads a single snapshot, even if events are appended in the meantime.
        try connection.execute("PRAGMA query_only = ON; BEGIN")
        return try audit(isSound: isSound(), checkpoints: marks, key: key)
    }

    /// Whether the structure of the file is intact.
    func isSound() throws(StoreFailure) -> Bool {
        let verdict: String? = try connection.prepare("PRAGMA integrity_check(1)").first()
        return verdict == "ok"
    }
}
