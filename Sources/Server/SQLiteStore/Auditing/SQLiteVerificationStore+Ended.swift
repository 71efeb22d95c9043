public import Verification
internal import WatchwordSystem

/// The revoked and disabled credentials that could be read from a database.
public struct EndedCredentials: Hashable, Sendable {
    /// Their ids, in ascending order.
    public let credentials: [CredentialID]
    /// Whether everything could be read.
    ///
    /// If not, the list may be incomplete.
    public let isComplete: Bool
}

extension SQLiteVerificationStore {
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
        guard try location.exists(in: folder) else { throw .notPrivate(.missing) }
        let session = try location.openForReading()
        _ = try session.connection.requireOwnFile()
        var found: Set<CredentialID> = []
        var isComplete = true
        do { try session.readEndedRows(into: &found) } catch { isComplete = false }
        do { try session.readEndingEvents(into: &found) } catch { isComplete = false }
        return EndedCredentials(credentials: found.sorted(), isComplete: isComplete)
    }
}
