package import Verification

// The rows that change when a database replaces a lost one.
extension StoreSnapshot {
    /// The gap before the positions of new events, so that they come after every position that a
    /// client may have read in the lost database.
    package static var positionGap: UInt64 { 1_000_000_000 }

    /// Passes the next versions of all credentials that change to `take`, page by page.
    ///
    /// - Parameter known: credentials known to have ended.
    /// - Returns: how many of them stay active, and how many end.
    package func restoreCredentials(
        at now: UnixTime, ended known: Set<CredentialID>, key: AuditKey,
        _ take: ([RestoredRow]) throws(Failure) -> Void
    ) throws(Failure) -> (kept: Int, ended: Int) {
        var (kept, ended) = (0, 0)
        try allCredentials(key) { page throws(Failure) in
            var restored: [RestoredRow] = []
            for row in page {
                do throws(VerifierError) {
                    let hasEnded = known.contains(row.id)
                    guard let next = try row.afterRestoring(at: now, hasEnded: hasEnded) else {
                        continue
                    }
                    restored.append(next)
                } catch { throw .row }
            }
            if !restored.isEmpty { try take(restored) }
            ended += restored.count(where: \.isEnded)
            kept += restored.count { !$0.isEnded }
        }
        return (kept, ended)
    }

    /// The next versions of all clients that are not revoked, with the events of their revocation.
    package func revokedClients(
        at now: UnixTime, key: AuditKey
    ) throws(Failure) -> [(row: ClientRow, event: Event)] {
        let clients: [ClientRow] = try all(.clients, []) { row throws(Failure) in try row.row(key) }
        return clients.compactMap { $0.afterRevoking(at: now) }.map { client in
            (client, client.event(.clientRevoked, because: .restored, at: now))
        }
    }
}
