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
    /// and events are read, each as far as they go. Nothing is written but SQLite's own files beside it.
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
    /// Whether all rows could be read.
    fileprivate func readEndedRows(into found: inout Set<CredentialID>) -> Bool {
        var last: [UInt8] = []
        do throws(SQLiteFailure) {
            while true {
                let page = try self[.credentialsByID].bind(last).bind(Int64(1_000))
                    .all { row throws(SQLiteFailure) in try row.credential() }
                guard let end = page.last else { return true }
                last = end.id.bytes
                for row in page where row.state == .revoked || row.state == .disabled {
                    found.insert(row.id)
                }
            }
        } catch { return false }
    }

    /// Whether all events could be read.
    fileprivate func readEndingEvents(into found: inout Set<CredentialID>) -> Bool {
        var position: UInt64 = 0
        do throws(SQLiteFailure) {
            while true {
                let page = try events(after: position, limit: 1_000)
                guard let last = page.last else { return true }
                position = last.position
                for event in page.compactMap(\.event)
                where event.kind == .revoked || event.kind == .disabled {
                    if let credential = event.credential { found.insert(credential) }
                }
            }
        } catch { return false }
    }
}
