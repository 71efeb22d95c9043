public import Verification
internal import WatchwordCryptography

/// The result of failover recovery.
public struct FailoverRecoveryReport: Hashable, Sendable {
    /// The number of credentials that stay active, but refuse all codes from before the recovery.
    public let kept: Int
    /// The number of credentials that the recovery ended, because it is unknown what was spent in
    /// the lost commits.
    public let ended: Int
    /// The number of API keys that the recovery revoked, because later revocations are unknown.
    public let clientsRevoked: Int
}

extension PostgreSQLVerificationStore {
    /// Returns whether the tables exist.
    public static func exists(_ address: PostgreSQLAddress) throws(PostgreSQLStoreError) -> Bool {
        let connection = try PostgreSQLConnection.opening(address)
        do { return try connection.takenSteps() > 0 } catch { throw PostgreSQLStoreError(error) }
    }

    /// Ends everything that may have been spent in commits that were lost when a database was
    /// rolled back.
    ///
    /// A database needs this if it was restored from a backup, or if its standby took over without
    /// the last commits. Afterwards it refuses every code and secret that could have been accepted
    /// before `now`; ``CredentialRow/afterRestoring(at:hasEnded:)`` defines this for each kind of
    /// credential. Tickets, challenges and recorded responses are deleted. The existing event chains
    /// are closed; new events go into new chains.
    ///
    /// The recovery is one transaction; other commits wait for it.
    ///
    /// - Parameters:
    ///   - ended: credentials known to have ended, even if the database does not show it; see
    ///     ``endedCredentials(at:timeout:)``.
    ///   - now: the current time. It permanently decides what is refused, so the caller must know
    ///     that it is correct.
    ///   - isTrusted: whether to continue if an event is newer than `now`; if so, the time of the
    ///     newest event is used in place of `now`.
    /// - Returns: a report that includes the new chain's end, which replaces all stored ends; see
    ///   ``ends``.
    /// - Throws: ``PostgreSQLStoreError/clockBehind(_:)`` if an event is newer than `now`.
    public static func settle(
        _ address: PostgreSQLAddress, key: AuditKey, keepingClients: Bool = false,
        ended: Set<CredentialID> = [], now: UnixTime, trustingClock isTrusted: Bool = false,
        timeout: Duration = .seconds(60)
    ) throws(PostgreSQLStoreError) -> (report: FailoverRecoveryReport, end: AcknowledgedCheckpoint)
    {
        let connection = try PostgreSQLConnection.opening(address)
        try connection.expectTables()
        try connection.updateSchema(timeout: timeout)
        let newest: UnixTime
        do throws(PostgreSQLFailure) {
            let session = try PostgreSQLSession(
                address, FailoverRecovery.statements, timeout: timeout,
                known: AcknowledgedCheckpoints())
            var recovery = try FailoverRecovery(session, key: key, now: now)
            newest = recovery.newest
            if isTrusted || now >= newest {
                return try recovery.run(keepingClients: keepingClients, ended: ended)
            }
        } catch {
            throw PostgreSQLStoreError(error)
        }
        // Closing the connection rolls back its transaction.
        throw .clockBehind(newest)
    }
}

extension PostgreSQLConnection {
    /// Returns the number of schema steps that were applied to the database.
    ///
    /// - Throws: ``PostgreSQLStoreError/empty`` if the tables do not exist;
    ///   ``PostgreSQLStoreError/changedSchema(object:)``.
    @discardableResult func expectTables() throws(PostgreSQLStoreError) -> Int {
        let taken: Int
        do { taken = try takenSteps() } catch { throw PostgreSQLStoreError(error) }
        guard taken > 0 else { throw .empty }
        guard taken <= Schema.steps.count else { throw .newer(schema: taken) }
        try requireOwnSchema()
        return taken
    }
}
