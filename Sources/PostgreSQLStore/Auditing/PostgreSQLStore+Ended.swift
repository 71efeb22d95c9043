public import Verification

extension PostgreSQLStore {
    /// The credentials that were revoked or disabled, by what the rows and the events say, by id.
    ///
    /// A backup that was made before knows nothing of it; see ``settle(_:key:keepingClients:ended:now:patience:)``.
    public static func endedCredentials(
        at address: PostgreSQLAddress, patience: Int = 10_000
    ) throws(PostgreSQLStoreError) -> [CredentialID] {
        try PostgreSQLConnection.opening(address).expectTables()
        do throws(PostgreSQLFailure) {
            let session = try PostgreSQLSession(
                address, [.credentialsByID, .events], patience: patience, known: KnownHeads())
            return try session.endedRows().union(session.endedByEvents()).sorted()
        } catch {
            throw PostgreSQLStoreError(error)
        }
    }
}

extension PostgreSQLSession {
    fileprivate func endedRows() throws(PostgreSQLFailure) -> Set<CredentialID> {
        var ended: Set<CredentialID> = []
        var last: [UInt8] = []
        while true {
            var arguments = StatementArguments()
            arguments.add(last)
            arguments.add(1_000)
            let page = try run(.credentialsByID, arguments)
                .all { row throws(PostgreSQLFailure) in try row.credential() }
            guard let end = page.last else { return ended }
            last = end.id.bytes
            for row in page where row.state == .revoked || row.state == .disabled {
                ended.insert(row.id)
            }
        }
    }

    fileprivate func endedByEvents() throws(PostgreSQLFailure) -> Set<CredentialID> {
        var ended: Set<CredentialID> = []
        var position: UInt64 = 0
        while true {
            var arguments = StatementArguments()
            arguments.add(Int64(clamping: position))
            arguments.add(1_000)
            let page = try run(.events, arguments)
                .all { row throws(PostgreSQLFailure) in try row.event() }
            guard let last = page.last else { return ended }
            position = last.position
            for case let event? in page.map(\.event)
            where event.kind == .revoked || event.kind == .disabled {
                if let credential = event.credential { ended.insert(credential) }
            }
        }
    }
}
