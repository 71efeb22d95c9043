internal import Cryptography
public import Verification

/// What became of a database that was put back to an earlier state.
public struct SettlementReport: Hashable, Sendable {
    /// Credentials that accept codes again, though none of a time before the settlement.
    public let kept: Int
    /// Credentials that ended, because what was spent since is not known.
    public let ended: Int
    /// API keys that ended, because it is not known which were revoked since.
    public let clientsRevoked: Int
}

extension PostgreSQLStore {
    /// Whether the tables are there.
    public static func isThere(_ address: PostgreSQLAddress) throws(PostgreSQLStoreError) -> Bool {
        let connection = try PostgreSQLConnection.opening(address)
        do { return try connection.takenSteps() > 0 } catch { throw PostgreSQLStoreError(error) }
    }

    /// Ends everything in a database that may have been spent since the state that it is in.
    ///
    /// That is what a database needs that came from a backup, or whose standby took over without its
    /// last commits. Everything up to `now` is refused, as ``CredentialRow/afterRestoring(at:)`` says
    /// for each kind of credential. Tickets and kept answers are dropped. The chains of events are
    /// closed as they are; what happens from now on stands in new ones.
    ///
    /// It is one transaction, and whoever commits meanwhile waits for it.
    ///
    /// - Parameters:
    ///   - ended: credentials that are known to have ended since; see ``endedCredentials(at:timeout:)``.
    ///   - now: the time of day. What is refused for good depends on it, so the caller has to know that it
    ///     is right.
    ///   - isTrusted: whether to go on where an event is newer than `now`; everything up to the newest is
    ///     refused then.
    /// - Returns: also the new chain's end, to be kept instead of all others; see ``ends``.
    /// - Throws: ``PostgreSQLStoreError/clockBehind(_:)`` when an event is newer than `now`.
    public static func settle(
        _ address: PostgreSQLAddress, key: AuditKey, keepingClients: Bool = false,
        ended: Set<CredentialID> = [], now: UnixTime, trustingClock isTrusted: Bool = false,
        timeout: Duration = .seconds(60)
    ) throws(PostgreSQLStoreError) -> (report: SettlementReport, end: ChainEnd) {
        let connection = try PostgreSQLConnection.opening(address)
        try connection.expectTables()
        try connection.bringUpToDate(timeout: timeout)
        let newest: UnixTime
        do throws(PostgreSQLFailure) {
            let session = try PostgreSQLSession(
                address, Settlement.statements, timeout: timeout, known: KnownHeads())
            var settlement = try Settlement(session, key: key, now: now)
            newest = settlement.newest
            if isTrusted || now >= newest {
                return try settlement.run(keepingClients: keepingClients, ended: ended)
            }
        } catch {
            throw PostgreSQLStoreError(error)
        }
        // The connection is closed, and its transaction with it.
        throw .clockBehind(newest)
    }
}

extension PostgreSQLConnection {
    /// - Throws: ``PostgreSQLStoreError/empty`` when there is nothing of ours.
    func expectTables() throws(PostgreSQLStoreError) {
        let taken: Int
        do { taken = try takenSteps() } catch { throw PostgreSQLStoreError(error) }
        guard taken > 0 else { throw .empty }
        guard taken <= Schema.steps.count else { throw .newer(schema: taken) }
    }
}
