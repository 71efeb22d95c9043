internal import WatchwordCryptography

/// A change in a commit.
///
/// The conditions make each decision a compare-and-set: if one of them does not hold, the commit
/// changes nothing.
public enum StoreChange: Hashable, Sendable {
    /// Changes nothing.
    ///
    /// Condition: the subject has fewer than `limit` rows that are not revoked.
    ///
    /// If two concurrent commits have this condition for the same subject, the later commit counts
    /// the rows that the earlier commit added.
    case requireCapacity(for: Subject, limit: Int)
    /// Adds a row.
    ///
    /// Condition: neither the row's id nor its fingerprint exists.
    case insertCredential(CredentialRow)
    /// Replaces a row.
    ///
    /// Condition: the stored version is one less than the row's.
    case updateCredential(CredentialRow)
    /// Adds a ticket.
    ///
    /// Condition: its digest does not exist.
    case insertTicket(TicketRow)
    /// Deletes the ticket with this digest.
    ///
    /// Condition: it exists.
    case spendTicket(digest: [UInt8])
    /// Deletes all tickets of a credential; none need exist.
    case dropTickets(of: CredentialID)
    /// Adds a challenge.
    ///
    /// Condition: its digest does not exist.
    case insertChallenge(ChallengeRow)
    /// Deletes the challenge with this digest.
    ///
    /// Condition: it exists.
    case spendChallenge(digest: [UInt8])
    /// Deletes the challenge with this digest, if it exists and no other commit is changing it.
    case dropChallenge(digest: [UInt8])
    /// Records a response.
    ///
    /// Condition: its key does not exist.
    case insertAnswer(AnswerRow)
    /// Deletes the sealed bytes of all responses that contain a credential's secrets, if any exist.
    ///
    /// The rows stay, so that their requests are not decided again.
    case endAnswers(of: CredentialID)
    /// Adds a client.
    ///
    /// Condition: neither the client's id nor its digest exists, and no other active client has its
    /// name.
    case insertClient(ClientRow)
    /// Replaces a client.
    ///
    /// Condition: the stored version is one less than the row's.
    case updateClient(ClientRow)
    /// Writes a dummy row into one of ``DummyRow/slotCount`` slots, replacing its contents.
    case writeDummy(DummyRow)
    /// Appends an event to the store's chain with ``EventChain``.
    case appendEvent(Event)
    /// Does the work of ``appendEvent(_:)``, but does not change the chain, and writes the event as
    /// a ``DummyRow``: a denial that is only counted must not be faster than other denials (V-06).
    case writeDummyEvent(Event)
    /// Does the work of ``insertAnswer(_:)``, but stores no response.
    ///
    /// Condition: its key does not exist.
    case writeDummyAnswer(AnswerRow)

    /// Whether the change has a condition.
    ///
    /// A change without a condition always succeeds.
    public var hasCondition: Bool {
        switch self {
        case .requireCapacity, .insertCredential, .updateCredential, .insertTicket, .spendTicket,
            .insertChallenge, .spendChallenge, .insertAnswer, .insertClient, .updateClient,
            .writeDummyAnswer:
            true
        case .dropTickets, .dropChallenge, .endAnswers, .writeDummy, .appendEvent,
            .writeDummyEvent:
            false
        }
    }
}

/// The dummy row to write instead of a credential's row.
///
/// An attempt on an unknown subject must cost as much as a wrong code, mostly a durable write. A
/// dummy row has the size of a real row and uses one of a few slots, so attackers cannot fill the
/// disk with them.
public struct DummyRow: Hashable, Sendable {
    /// The primary key: 0 to ``slotCount`` - 1 for credentials, followed by the same number of
    /// slots for dummy events, and then for dummy responses.
    public let slot: Int
    /// Bytes without meaning, of the size of a real row.
    public let body: [UInt8]

    /// The number of slots for each kind of dummy row.
    public static let slotCount = 1_024

    /// Takes the slot, reduced to the valid range, and the bytes.
    public init(slot: UInt64, body: [UInt8]) {
        self.slot = Int(slot % UInt64(Self.slotCount))
        self.body = body
    }

    /// The dummy row for an event, with the size of the event.
    public init(_ event: Event) {
        let number = event.verification?.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } ?? 0
        slot = Self.slotCount + Int(number % UInt64(Self.slotCount))
        body = RecordedEvent(event).encoded + [UInt8](repeating: 0, count: 64)
    }

    /// The dummy row for a response, with the size of the response.
    public init(_ answer: AnswerRow) {
        let number = answer.key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        slot = 2 * Self.slotCount + Int(number % UInt64(Self.slotCount))
        body = [UInt8](repeating: 0, count: (answer.sealed?.bytes.count ?? 0) + 144)
    }

    /// A row of the usual size under an id that no credential has, which is looked up first, as for
    /// a real credential (V-06).
    public var sought: CredentialRow {
        var row = CredentialRecord.nobody
        row.id = .anywhere()
        row.kind = .totp
        row.body = body
        return row
    }
}

/// The outcome of a commit.
public enum CommitOutcome: Hashable, Sendable {
    /// All changes are made and durable.
    case done
    /// A condition did not hold, because another commit preceded this commit.
    ///
    /// Nothing was changed; read and decide again.
    case conflict
}

/// A change, with the authentication code of the row that the change writes.
public struct AuthenticatedChange: Sendable {
    /// The change without its code.
    public let change: StoreChange
    /// The authentication code of the row that the change writes; empty if the change writes no row
    /// with such a code.
    public let code: [UInt8]
    /// Every row of a credential or client that the commit writes, for its first event.
    fileprivate(set) var rows: [RowMark] = []

    /// The event to append to the chain, if the change is an event.
    public var event: RecordedEvent? {
        guard case .appendEvent(let event) = change else { return nil }
        return RecordedEvent(event, rows: rows)
    }
}

extension AuditKey {
    /// The changes of one commit, with their authentication codes.
    ///
    /// The first event lists the written rows, so that the events record the last version
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
        // A dummy row affects no decision, but costs the same as a real row.
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
