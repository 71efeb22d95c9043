internal import POSIX
public import Verification

/// What could be read of a database about credentials that accept nothing any more.
public struct EndedCredentials: Hashable, Sendable {
    /// Their names, in order.
    public let credentials: [CredentialID]
    /// Whether everything could be read; a damaged database may tell a part only.
    public let isComplete: Bool
}

extension SQLiteStore {
    /// Lists the credentials that were revoked or disabled, as far as the database at `path` still tells.
    ///
    /// For a database that is given up, so that a backup that takes its place does not revive them: rows
    /// and events are read, each as far as they go, and also when they are not authentic: the worst that
    /// a forged one does is to end a credential. Nothing is written but SQLite's own files beside it.
    public static func endedCredentials(at path: String) throws(SQLiteStoreError)
        -> EndedCredentials
    {
        let location = DatabaseLocation(path)
        let folder = try location.openFolder(making: false)
        guard try location.isThere(in: folder) else { throw .notPrivate(.missing) }
        let session = try location.openForReading()
        _ = try session.connection.expectOurs()
        var found: Set<CredentialID> = []
        let parts = [
            session.readEndedRows(into: &found), session.readEndingEvents(into: &found),
        ]
        return EndedCredentials(
            credentials: found.sorted(), isComplete: parts.allSatisfy { $0 })
    }
}

extension SQLiteSession {
    /// A page of credentials, in the order of their ids.
    func credentials(
        from id: [UInt8], limit: Int, key: AuditKey?
    ) throws(SQLiteFailure) -> [CredentialRow] {
        try self[.credentialsByID].bind(id).bind(Int64(limit))
            .all { row throws(SQLiteFailure) in try row.credential(key) }
    }

    /// Whether all rows could be read.
    fileprivate func readEndedRows(into found: inout Set<CredentialID>) -> Bool {
        do throws(SQLiteFailure) {
            try StoreWalk.credentials { id, limit throws(SQLiteFailure) in
                try credentials(from: id, limit: limit, key: nil)
            } _: { page throws(SQLiteFailure) in
                found.formUnion(page.lazy.filter(\.hasEnded).map(\.id))
            }
            return true
        } catch { return false }
    }

    /// Whether all events could be read.
    fileprivate func readEndingEvents(into found: inout Set<CredentialID>) -> Bool {
        do throws(SQLiteFailure) {
            try StoreWalk.events(events(after:limit:)) { page throws(SQLiteFailure) in
                found.formUnion(page.compactMap(\.endedCredential))
            }
            return true
        } catch { return false }
    }
}
