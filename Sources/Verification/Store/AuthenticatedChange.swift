public import Cryptography

/// A change as it goes to a database: with the authentication code of the row that it writes.
public struct AuthenticatedChange: Sendable {
    /// The change.
    public let change: StoreChange
    /// The code of its row; empty where it writes none that is authenticated.
    public let code: [UInt8]
}

extension AuditKey {
    /// The changes of one commit as they go to a database.
    public func authenticating(
        _ changes: [StoreChange]
    ) throws(CryptographyFailure) -> [AuthenticatedChange] {
        var authenticated: [AuthenticatedChange] = []
        authenticated.reserveCapacity(changes.count)
        for change in changes {
            authenticated.append(
                AuthenticatedChange(change: change, code: try code(of: change)))
        }
        return authenticated
    }

    private func code(of change: StoreChange) throws(CryptographyFailure) -> [UInt8] {
        switch change {
        case .insertCredential(let row), .updateCredential(let row): try code(of: row)
        case .insertTicket(let row): try code(of: row)
        case .insertAnswer(let row): try code(of: row)
        case .insertClient(let row), .updateClient(let row): try code(of: row)
        // Nothing is decided by a decoy; it costs what a row does.
        case .writeDecoy(let row): try code(of: row.sought)
        case .spendTicket, .dropTickets, .endAnswers, .appendEvent: []
        }
    }
}
