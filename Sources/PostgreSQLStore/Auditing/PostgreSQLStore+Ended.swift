public import Verification

extension PostgreSQLStore {
    /// The credentials that were revoked or disabled, by what the rows and the events say, by id; also
    /// when they are not authentic.
    ///
    /// A backup that was made before knows nothing of it; see ``settle(_:key:keepingClients:ended:now:trustingClock:timeout:)``.
    public static func endedCredentials(
        at address: PostgreSQLAddress, timeout: Duration = .seconds(10)
    ) throws(PostgreSQLStoreError) -> [CredentialID] {
        try PostgreSQLConnection.opening(address).expectTables()
        do throws(PostgreSQLFailure) {
            let session = try PostgreSQLSession(
                address, [.credentialsByID, .events], timeout: timeout, known: KnownHeads())
            return try session.endedRows().union(session.endedByEvents()).sorted()
        } catch {
            throw PostgreSQLStoreError(error)
        }
    }
}

extension PostgreSQLSession {
    /// A page of events, in the order of their positions.
    func events(after position: UInt64, limit: Int) throws(PostgreSQLFailure) -> [ChainedEvent] {
        var arguments = StatementArguments()
        arguments.add(Int64(clamping: position))
        arguments.add(Int64(limit))
        return try run(.events, arguments)
            .all { row throws(PostgreSQLFailure) in try row.event() }
    }

    /// A page of credentials, in the order of their ids.
    func credentials(
        from id: [UInt8], limit: Int, key: AuditKey?
    ) throws(PostgreSQLFailure) -> [CredentialRow] {
        var arguments = StatementArguments()
        arguments.add(id)
        arguments.add(Int64(limit))
        return try run(.credentialsByID, arguments)
            .all { row throws(PostgreSQLFailure) in try row.credential(key) }
    }

    fileprivate func endedRows() throws(PostgreSQLFailure) -> Set<CredentialID> {
        var ended: Set<CredentialID> = []
        try StoreWalk.credentials { id, limit throws(PostgreSQLFailure) in
            try credentials(from: id, limit: limit, key: nil)
        } _: { page throws(PostgreSQLFailure) in
            ended.formUnion(page.lazy.filter(\.hasEnded).map(\.id))
        }
        return ended
    }

    fileprivate func endedByEvents() throws(PostgreSQLFailure) -> Set<CredentialID> {
        var ended: Set<CredentialID> = []
        try StoreWalk.events(events(after:limit:)) { page throws(PostgreSQLFailure) in
            ended.formUnion(page.compactMap(\.endedCredential))
        }
        return ended
    }
}
