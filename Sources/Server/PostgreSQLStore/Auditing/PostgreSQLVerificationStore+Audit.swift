internal import SQLStore
public import Verification

extension PostgreSQLVerificationStore {
    /// Checks all events and rows in one snapshot; other connections can keep writing.
    ///
    /// The audit cannot detect that events were cut off together with the recorded end of their
    /// chain, unless a checkpoint of one of these events was kept.
    ///
    /// - Parameter checkpoints: checkpoints kept elsewhere; see ``ends`` and
    ///   ``ChainCheckpoint/text``.
    public static func audit(
        at address: PostgreSQLAddress, key: AuditKey, checkpoints: [ChainCheckpoint] = [],
        timeout: Duration = .seconds(10)
    ) throws(PostgreSQLStoreError) -> AuditReport {
        let steps = try PostgreSQLConnection.connecting(to: address).expectTables()
        return try opening { () throws(PostgreSQLFailure) in
            let session = try PostgreSQLSession(
                PostgreSQLSession.Context(address: address, timeout: timeout),
                StoreStatement.auditing(steps: steps), steps: steps)
            // A transaction reads a single snapshot, even if events are appended in the meantime.
            _ = try session.run([.text("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")])
            return try session.audit(checkpoints: checkpoints, key: key)
        }
    }

    /// Lists the credentials that rows or events show as revoked or disabled, ordered by id, even
    /// if those rows and events are not authentic.
    ///
    /// An earlier backup does not show that they ended; see
    /// ``settle(_:key:keepingClients:ended:now:trustingClock:timeout:)``.
    public static func endedCredentials(
        at address: PostgreSQLAddress, timeout: Duration = .seconds(10)
    ) throws(PostgreSQLStoreError) -> [CredentialID] {
        let steps = try PostgreSQLConnection.connecting(to: address).expectTables()
        return try opening { () throws(PostgreSQLFailure) in
            let session = try PostgreSQLSession(
                PostgreSQLSession.Context(address: address, timeout: timeout),
                [.credentialsByID, .events], steps: steps)
            var found: Set<CredentialID> = []
            try session.readEndedRows(into: &found)
            try session.readEndingEvents(into: &found)
            return found.sorted()
        }
    }
}

extension [AcknowledgedCheckpoint] {
    func expectAuthentic(_ key: AuditKey) throws(PostgreSQLStoreError) {
        for end in self {
            let isAuthentic = key.isAuthentic(end.mark)
            guard isAuthentic else { throw .forgedCheckpoint }
        }
    }
}
