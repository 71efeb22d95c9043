internal import SQLStore
public import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

/// The result of turning a backup into a database.
public struct RestoreReport: Hashable, Sendable {
    /// When the backup was made; `nil` if the copy was not made by `backUp(to:now:)`.
    public let backedUpAt: UnixTime?
    /// The number of credentials that stay active, but refuse all codes from before the restore.
    public let kept: Int
    /// The number of credentials that the restore ended, because it is unknown what has been spent
    /// since the backup.
    public let ended: Int
    /// The number of API keys that the restore revoked, because revocations since the backup are
    /// unknown.
    public let clientsRevoked: Int
}

extension SQLiteVerificationStore {
    /// Creates a database at `path` from a backup, without anything that may have been spent since.
    ///
    /// The database refuses every code and secret that could have been accepted before `now`;
    /// ``CredentialRow/afterRestoring(at:hasEnded:)`` defines this for each kind of credential.
    /// Time-based codes continue with later time steps. Counter-based codes, recovery codes and
    /// enrolled secrets are revoked and must be enrolled again. Tickets, challenges and recorded
    /// responses are deleted. The events of the backup stay unchanged; new events go into a new chain.
    ///
    /// The backup does not show what has been revoked since it was made. All clients are therefore
    /// revoked, unless the caller keeps them. The caller passes the credentials that
    /// ``endedCredentials(at:)`` or the exported events list; any other credential that was revoked
    /// after the backup must be revoked again.
    ///
    /// - Parameters:
    ///   - ended: credentials known to have ended since the backup; ids that the backup does not
    ///     contain are ignored.
    ///   - now: the current time. It permanently decides what is refused, so the caller must know
    ///     that it is correct.
    ///   - isTrusted: whether to continue if the backup or one of its events is newer than `now`;
    ///     if so, the newest of these times is used in place of `now`.
    /// - Throws: ``SQLiteStoreError/clockBehind(_:)`` if the backup or one of its events is newer
    ///   than `now`; ``SQLiteStoreError/exists`` if there is a database at `path`: stop the
    ///   programs that use it, and move it away first, together with the files beside it.
    public static func restore(
        from backup: String, to path: String, key: AuditKey, keepingClients: Bool = false,
        ended: Set<CredentialID> = [], now: UnixTime, trustingClock isTrusted: Bool = false
    ) throws(SQLiteStoreError) -> RestoreReport {
        let origin = DatabaseLocation(backup)
        guard try origin.exists(in: origin.openFolder(making: false)) else {
            throw .notPrivate(.missing)
        }
        let source = try origin.openForReading()
        guard try source.connection.requireOwnFile() > 0 else { throw .foreignFile }
        let (backedUpAt, newest) = try source.times(key)
        guard isTrusted || now >= newest else { throw .clockBehind(newest) }
        let target = DatabaseLocation(path)
        let folder = try target.openFolder(making: true)
        return try target.locked(in: folder, timeout: .seconds(5)) { () throws(SQLiteStoreError) in
            let aside = try target.makeTemporary(in: folder)
            try aside.fill(from: source) { _ throws(SQLiteFailure) in }
            let (report, head) = try aside.renew(
                key: key, keepingClients: keepingClients, ended: ended, now: max(now, newest),
                backedUpAt: backedUpAt)
            // The checkpoint of the lost database does not match this database, so the checkpoint
            // is replaced first. If the process is killed before the file is renamed, the
            // checkpoint prevents the creation of an empty database, and the next restore replaces
            // the checkpoint again.
            try target.keep(head, in: folder)
            try target.moveIntoPlace(aside, in: folder)
            return report
        }
    }
}

extension DatabaseLocation {
    /// Ends everything that may have been spent, in one transaction, and closes the file.
    fileprivate func renew(
        key: AuditKey, keepingClients: Bool, ended: Set<CredentialID>, now: UnixTime,
        backedUpAt: UnixTime?
    ) throws(SQLiteStoreError) -> (RestoreReport, ChainCheckpoint) {
        let session = try opening { () throws(SQLiteFailure) in
            let connection = try SQLiteConnection(path: path, .readWrite, timeout: .seconds(2))
            try connection.prepareForWriting()
            return SQLiteSession(connection)
        }
        try session.connection.updateSchema(key: key) {
            Randomness.bytes(count: 16)
        }
        let tail = try session.checkedTail(key: key, against: nil)
        let writer = DatabaseWriter(session, key: key, known: tail, at: self)
        return try opening { () throws(SQLiteFailure) in
            let done = try writer.transaction { () throws(SQLiteFailure) in
                try session.endPossiblySpent(
                    key: key, keepingClients: keepingClients, ended: ended, now: now,
                    backedUpAt: backedUpAt)
            }
            // The file is about to be renamed without its log.
            try session.connection.leaveWriteAheadLog()
            return done
        }
    }
}

extension SQLiteSession {
    /// When the backup was made, if that is recorded, and the newest time that the backup records.
    fileprivate func times(
        _ key: AuditKey
    ) throws(SQLiteStoreError) -> (backedUpAt: UnixTime?, newest: UnixTime) {
        try opening { () throws(SQLiteFailure) in
            let last = try LastEvents(of: chains(), events(after:limit:))
            let areAuthentic = last.areAuthentic(key)
            guard areAuthentic else { throw .chain }
            let backedUpAt = try setting(.backedUpAt, key: key).map(UnixTime.init(milliseconds:))
            let times = [backedUpAt, last.newest].compactMap { $0 }
            return (backedUpAt, times.max() ?? UnixTime(milliseconds: 0))
        }
    }

    fileprivate func endPossiblySpent(
        key: AuditKey, keepingClients: Bool, ended known: Set<CredentialID>, now: UnixTime,
        backedUpAt: UnixTime?
    ) throws(SQLiteFailure) -> (RestoreReport, ChainCheckpoint) {
        let position = try connection.number("SELECT max(head_position) FROM chains")
        try connection.beginChain(
            key: key,
            node: { Randomness.bytes(count: 16) },
            position: UInt64(clamping: position) + Self.positionGap)
        var chain = try ChainWriter(in: self, key: key, known: nil)
        let (kept, ended) = try renewCredentials(now, known, key, &chain)
        let clients = try keepingClients ? 0 : revokeClients(now, key, &chain)
        let event = Event(.restored, time: now, number: Int64(ended))
        try chain.append(RecordedEvent(event), to: self)
        guard let head = try chain.finish(in: self)?.head else { throw .chain }
        try connection.execute(
            "DELETE FROM tickets; DELETE FROM challenges; DELETE FROM answers; DELETE FROM decoys;")
        try remove(.backedUpAt)
        let report = RestoreReport(
            backedUpAt: backedUpAt, kept: kept, ended: ended, clientsRevoked: clients)
        return (report, head)
    }

    private func renewCredentials(
        _ now: UnixTime, _ known: Set<CredentialID>, _ key: AuditKey,
        _ chain: inout ChainWriter
    ) throws(SQLiteFailure) -> (kept: Int, ended: Int) {
        try restoreCredentials(at: now, ended: known, key: key) { page throws(SQLiteFailure) in
            for restored in page {
                try write(.updateCredential(restored.row), restored.event, key, &chain)
            }
        }
    }

    private func revokeClients(
        _ now: UnixTime, _ key: AuditKey, _ chain: inout ChainWriter
    ) throws(SQLiteFailure) -> Int {
        let revoked = try revokedClients(at: now, key: key)
        for client in revoked { try write(.updateClient(client.row), client.event, key, &chain) }
        return revoked.count
    }

    private func write(
        _ change: StoreChange, _ event: Event, _ key: AuditKey, _ chain: inout ChainWriter
    ) throws(SQLiteFailure) {
        let authenticated = key.authenticating([change, .appendEvent(event)])
        for change in authenticated {
            guard try apply(change, &chain) else { throw .row }
        }
    }
}
