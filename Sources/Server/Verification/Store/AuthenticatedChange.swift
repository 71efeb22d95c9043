internal import WatchwordCryptography

/// A change, with the authentication code of the row that it writes.
public struct AuthenticatedChange: Sendable {
    /// The change.
    public let change: StoreChange
    /// The authentication code of the row that the change writes; empty if it writes no row with
    /// such a code.
    public let code: [UInt8]
    /// Every row of a credential or client that the commit writes, for its first event.
    fileprivate(set) var rows: [RowMark] = []

    /// The event to append to the chain, if this is such a change.
    public var event: RecordedEvent? {
        guard case .appendEvent(let event) = change else { return nil }
        return RecordedEvent(event, rows: rows)
    }
}

extension AuditKey {
    /// The changes of one commit, with their authentication codes.
    ///
    /// The first event names the rows that are written, so that the events record the last version
    /// of each row.
    public func authenticating(_ changes: [StoreChange]) -> [AuthenticatedChange] {
        var authenticated: [AuthenticatedChange] = []
        authenticated.reserveCapacity(changes.count)
        var rows: [RowMark] = []
        var firstEvent: Int?
        for change in changes {
            let code = code(of: change)
            if let mark = change.mark(code: code) { rows.append(mark) }
            if firstEvent == nil, case .appendEvent = change { firstEvent = authenticated.count }
            authenticated.append(AuthenticatedChange(change: change, code: code))
        }
        if let firstEvent { authenticated[firstEvent].rows = rows }
        return authenticated
    }

    private func code(of change: StoreChange) -> [UInt8] {
        switch change {
        case .insertCredential(let row), .updateCredential(let row): code(of: row)
        case .insertTicket(let row): code(of: row)
        case .insertChallenge(let row): code(of: row)
        case .insertAnswer(let row), .writeDummyAnswer(let row): code(of: row)
        case .insertClient(let row), .updateClient(let row): code(of: row)
        // A dummy row decides nothing, but costs the same as a real row.
        case .writeDummy(let row): code(of: row.sought)
        case .requireCapacity, .spendTicket, .dropTickets, .spendChallenge, .dropChallenge,
            .endAnswers, .appendEvent, .writeDummyEvent:
            []
        }
    }
}

extension StoreChange {
    /// The mark of the row that the change writes; `nil` if events do not record such rows.
    fileprivate func mark(code: [UInt8]) -> RowMark? {
        switch self {
        case .insertCredential(let row), .updateCredential(let row): RowMark(row, code: code)
        case .insertClient(let row), .updateClient(let row): RowMark(row, code: code)
        default: nil
        }
    }
}
