public import Verification

extension PostgreSQLStore {
    /// Lists the credentials that rows or events show as revoked or disabled, ordered by id, even
    /// if those rows and events are not authentic.
    ///
    /// An earlier backup does not show that they ended; see
    /// ``settle(_:key:keepingClients:ended:now:trustingClock:timeout:)``.
    public static func endedCredentials(
        at address: PostgreSQLAddress, timeout: Duration = .seconds(10)
    ) throws(PostgreSQLStoreError) -> [CredentialID] {
        try PostgreSQLConnection.opening(address).expectTables()
        do throws(PostgreSQLFailure) {
            let session = try PostgreSQLSession(
                address, [.credentialsByID, .events], timeout: timeout,
                known: AcknowledgedCheckpoints())
            return try session.endedRows().union(session.endedByEvents()).sorted()
        } catch {
            throw PostgreSQLStoreError(error)
        }
    }
}

extension PostgreSQLSession {
    /// One page of events, ordered by position.
    func events(after position: UInt64, limit: Int) throws(PostgreSQLFailure) -> [ChainedEvent] {
        var arguments = StatementArguments()
        arguments.add(Int64(clamping: position))
        arguments.add(Int64(limit))
        return try run(.events, arguments)
            .all { row throws(PostgreSQLFailure) in try row.event() }
    }

    /// One page of credentials, ordered by id.
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
