public import Cryptography

/// A change as it goes to a database: with what authenticates the row that it writes.
public struct AuthenticatedChange: Sendable {
    /// The change.
    public let change: StoreChange
    /// The authentication code of its row; empty where it writes none that has one.
    public let code: [UInt8]
    /// Every row of a credential or client that the commit writes, for its first event.
    fileprivate(set) var rows: [RowMark] = []

    /// What is appended to the chain of events, if that is the change.
    public var event: RecordedEvent? {
        guard case .appendEvent(let event) = change else { return nil }
        return RecordedEvent(event, rows: rows)
    }
}

extension AuditKey {
    /// The changes of one commit as they go to a database.
    ///
    /// The first event names the rows that are written, so that each row's last version is known from
    /// the events.
    public func authenticating(
        _ changes: [StoreChange]
    ) throws(CryptographyFailure) -> [AuthenticatedChange] {
        var authenticated: [AuthenticatedChange] = []
        authenticated.reserveCapacity(changes.count)
        var rows: [RowMark] = []
        var firstEvent: Int?
        for change in changes {
            let code = try code(of: change)
            if let mark = change.mark(code: code) { rows.append(mark) }
            if firstEvent == nil, case .appendEvent = change { firstEvent = authenticated.count }
            authenticated.append(AuthenticatedChange(change: change, code: code))
        }
        if let firstEvent { authenticated[firstEvent].rows = rows }
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
        case .expectRoom, .spendTicket, .dropTickets, .endAnswers, .appendEvent: []
        }
    }
}

extension StoreChange {
    /// What events tell of the row that it writes, if they tell of such rows.
    fileprivate func mark(code: [UInt8]) -> RowMark? {
        switch self {
        case .insertCredential(let row), .updateCredential(let row): RowMark(row, code: code)
        case .insertClient(let row), .updateClient(let row): RowMark(row, code: code)
        default: nil
        }
    }
}
