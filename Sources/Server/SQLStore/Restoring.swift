public import Verification

/// The options for making a database usable after an older state of the database has replaced it.
public struct RestoreOptions: Sendable {
    /// The current time.
    ///
    /// This time permanently decides which codes are refused, so the caller must be sure of the
    /// time.
    public internal(set) var now: UnixTime
    /// Whether to continue if the database records a later time than ``now``; if so, the newest
    /// recorded time is used instead.
    public let trustsClock: Bool
    /// Whether API keys stay valid, although a revocation may have been lost.
    public let keepsClients: Bool
    /// Credentials known to have ended, even if the database does not show their end.
    ///
    /// Ids that the database does not contain are ignored.
    public let ended: Set<CredentialID>

    /// Takes the time, and the known facts about the lost database.
    public init(
        now: UnixTime, trustsClock: Bool = false, keepsClients: Bool = false,
        ended: Set<CredentialID> = []
    ) {
        self.now = now
        self.trustsClock = trustsClock
        self.keepsClients = keepsClients
        self.ended = ended
    }

    /// The options for a database whose newest recorded time is `newest`.
    ///
    /// - Throws: ``SQLStoreError/clockBehind(_:)``.
    package func checked(against newest: UnixTime) throws(SQLStoreError) -> RestoreOptions {
        guard trustsClock || now >= newest else { throw .clockBehind(newest) }
        var options = self
        options.now = max(now, newest)
        return options
    }
}

/// The result of making a database usable again.
public struct RestoreReport: Hashable, Sendable {
    /// When the backup was made; `nil` if the database is not a copy that the SQLite store made.
    public let backedUpAt: UnixTime?
    /// The number of credentials that stay active, but refuse all codes from before the restore.
    public let kept: Int
    /// The number of credentials that were ended, because the lost commits may have spent their
    /// codes.
    public let ended: Int
    /// The number of API keys that were revoked, because it is unknown which were revoked in the
    /// lost commits.
    public let clientsRevoked: Int

    package init(backedUpAt: UnixTime? = nil, kept: Int, ended: Int, clientsRevoked: Int) {
        self.backedUpAt = backedUpAt
        self.kept = kept
        self.ended = ended
        self.clientsRevoked = clientsRevoked
    }
}

// The rows that change when a database replaces a lost one.
extension StoreSnapshot {
    /// The gap before the positions of new events, so that they come after every position that a
    /// client may have read in the lost database.
    package static var positionGap: UInt64 { 1_000_000_000 }

    /// Passes the next versions of all credentials that change to `take`, page by page.
    ///
    /// - Returns: the number of credentials that stay active, and the number that end.
    package func restoreCredentials(
        _ options: RestoreOptions, key: AuditKey,
        _ take: ([RestoredRow]) throws(StoreFailure) -> Void
    ) throws(StoreFailure) -> (kept: Int, ended: Int) {
        var (kept, ended) = (0, 0)
        try allCredentials(key) { page throws(StoreFailure) in
            var restored: [RestoredRow] = []
            for row in page {
                do throws(VerifierError) {
                    let hasEnded = options.ended.contains(row.id)
                    guard let next = try row.afterRestoring(at: options.now, hasEnded: hasEnded)
                    else {
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

    /// The next versions of all clients that are not revoked, with the events of their revocation;
    /// none if the clients are kept.
    package func revokedClients(
        _ options: RestoreOptions, key: AuditKey
    ) throws(StoreFailure) -> [(row: ClientRow, event: Event)] {
        if options.keepsClients { return [] }
        let clients: [ClientRow] = try all(.clients, []) { row throws(StoreFailure) in
            try row.row(key)
        }
        return clients.compactMap { $0.afterRevoking(at: options.now) }.map { client in
            (client, client.event(.clientRevoked, because: .restored, at: options.now))
        }
    }
}
