internal import POSIX
public import Verification

/// The revoked and disabled credentials that could be read from a database.
public struct EndedCredentials: Hashable, Sendable {
    /// Their ids, in ascending order.
    public let credentials: [CredentialID]
    /// Whether everything could be read.
    ///
    /// If not, the list may be incomplete.
    public let isComplete: Bool
}

extension SQLiteStore {
    /// Lists the credentials that were revoked or disabled, as far as the database at `path` can be
    /// read.
    ///
    /// Use it on a database that a backup is about to replace, so that the backup does not revive
    /// these credentials. Reads rows and events as far as possible, even if they are not authentic:
    /// at worst, a forged one ends a credential. Writes nothing except SQLite's own files beside
    /// the database.
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
    /// One page of credentials, ordered by id.
    func credentials(
        from id: [UInt8], limit: Int, key: AuditKey?
    ) throws(SQLiteFailure) -> [CredentialRow] {
        try self[.credentialsByID].bind(id).bind(Int64(limit))
            .all { row throws(SQLiteFailure) in try row.credential(key) }
    }

    /// Returns whether all rows could be read.
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

    /// Returns whether all events could be read.
    fileprivate func readEndingEvents(into found: inout Set<CredentialID>) -> Bool {
        do throws(SQLiteFailure) {
            try StoreWalk.events(events(after:limit:)) { page throws(SQLiteFailure) in
                found.formUnion(page.compactMap(\.endedCredential))
            }
            return true
        } catch { return false }
    }
}
