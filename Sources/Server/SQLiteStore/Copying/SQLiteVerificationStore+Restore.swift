public import SQLStore
public import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

extension SQLiteVerificationStore {
    /// Creates a database at `path` from a backup, without the codes and secrets that may have been
    /// spent since.
    ///
    /// The database refuses every code and secret that could have been accepted before
    /// ``RestoreOptions/now``; ``CredentialRow/afterRestoring(at:hasEnded:)`` defines this for each
    /// kind of credential.
    /// Time-based codes continue with later time steps. Counter-based codes, recovery codes and
    /// enrolled secrets are revoked and must be enrolled again. Tickets, challenges and recorded
    /// responses are deleted. The events of the backup stay unchanged; new events go into a new
    /// chain.
    ///
    /// The backup does not show later revocations. All clients are therefore revoked, unless the
    /// caller keeps them. The caller passes the credentials that ``endedCredentials(at:)`` or the
    /// exported events list; any other credential that was revoked after the backup must be revoked
    /// again.
    ///
    /// - Throws: ``SQLStoreError/clockBehind(_:)`` if the backup or one of its events is newer
    ///   than the clock; ``SQLStoreError/exists`` if there is a database at `path`: stop the
    ///   programs that use it, and move it away first, together with the files beside it.
    public static func restore(
        from backup: String, to path: String, key: AuditKey, _ options: RestoreOptions
    ) throws(SQLStoreError) -> RestoreReport {
        let origin = DatabaseLocation(backup)
        guard try origin.exists(in: origin.openFolder(making: false)) else {
            throw .notPrivate(.missing)
        }
        let source = try origin.openForReading()
        guard source.step > 0 else { throw .foreignFile }
        let (backedUpAt, newest) = try SQLStoreError.store(in: source.times(key))
        let options = try options.checked(against: newest)
        let target = DatabaseLocation(path)
        let folder = try target.openFolder(making: true)
        return try target.locked(in: folder, timeout: .seconds(5)) { () throws(SQLStoreError) in
            let aside = try target.makeTemporary(in: folder)
            try SQLStoreError.store(in: aside.fill(from: source, key: key))
            let (report, head) = try aside.renew(key: key, options, backedUpAt: backedUpAt)
            // The checkpoint of the lost database does not match this database, so the checkpoint
            // is replaced first. If the process is killed before the file is renamed, the
            // checkpoint prevents the creation of an empty database, and the next restore replaces
            // the checkpoint again.
            try target.keep(head, in: folder)
            try SQLStoreError.system(in: target.moveIntoPlace(aside, in: folder))
            return report
        }
    }
}

extension DatabaseLocation {
    /// Invalidates the codes and secrets that may have been spent, in one transaction, and closes
    /// the file.
    fileprivate func renew(
        key: AuditKey, _ options: RestoreOptions, backedUpAt: UnixTime?
    ) throws(SQLStoreError) -> (RestoreReport, ChainCheckpoint) {
        let session = try SQLStoreError.store(in: openSession())
        try SQLStoreError.store(in: session.connection.prepareForWriting())
        try session.connection.updateSchema(key: key) { Randomness.bytes(count: 16) }
        let tail = try session.checkedTail(key: key, against: nil)
        let writer = DatabaseWriter(session, key: key, known: tail, at: self)
        let done = try SQLStoreError.store(
            in: writer.transaction { () throws(StoreFailure) in
                try session.endPossiblySpent(key: key, options, backedUpAt: backedUpAt)
            })
        // The file is about to be renamed without its log.
        try SQLStoreError.store(in: session.connection.leaveWriteAheadLog())
        return done
    }
}

extension SQLiteSession {
    /// The recorded time of the backup, if there is one, and the newest time in the backup.
    fileprivate func times(
        _ key: AuditKey
    ) throws(StoreFailure) -> (backedUpAt: UnixTime?, newest: UnixTime) {
        let last = try LastEvents(of: chains(), events(after:limit:))
        guard last.areAuthentic(key) else { throw .chain }
        let backedUpAt = try setting(.backedUpAt, key: key).map(UnixTime.init(milliseconds:))
        let times = [backedUpAt, last.newest].compactMap { $0 }
        return (backedUpAt, times.max() ?? UnixTime(milliseconds: 0))
    }

    fileprivate func endPossiblySpent(
        key: AuditKey, _ options: RestoreOptions, backedUpAt: UnixTime?
    ) throws(StoreFailure) -> (RestoreReport, ChainCheckpoint) {
        let position = try connection.number("SELECT max(head_position) FROM chains")
        try connection.beginChain(
            key: key,
            node: { Randomness.bytes(count: 16) },
            position: UInt64(clamping: position) + Self.positionGap)
        var chain = try ChainWriter(in: self, key: key, known: nil)
        let (kept, ended) = try restoreCredentials(options, key: key) {
            page throws(StoreFailure) in
            for restored in page {
                try write(.updateCredential(restored.row), restored.event, key, &chain)
            }
        }
        let clients = try revokedClients(options, key: key)
        for client in clients { try write(.updateClient(client.row), client.event, key, &chain) }
        let event = Event(.restored, time: options.now, number: Int64(ended))
        try chain.append(RecordedEvent(event), to: self)
        guard let head = try chain.finish(in: self)?.head else { throw .chain }
        try connection.execute(
            "DELETE FROM tickets; DELETE FROM challenges; DELETE FROM answers; DELETE FROM decoys;")
        try remove(.backedUpAt)
        let report = RestoreReport(
            backedUpAt: backedUpAt, kept: kept, ended: ended, clientsRevoked: clients.count)
        return (report, head)
    }

    private func write(
        _ change: StoreChange, _ event: Event, _ key: AuditKey, _ chain: inout ChainWriter
    ) throws(StoreFailure) {
        let authenticated = key.authenticating([change, .appendEvent(event)])
        for change in authenticated {
            guard try apply(change, &chain) else { throw .row }
        }
    }
}
