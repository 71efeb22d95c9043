/// One change of a commit.
///
/// The conditions are what makes a decision a compare-and-set: when one of them does not hold,
/// nothing of the commit happens.
public enum StoreChange: Hashable, Sendable {
    /// Changes nothing; on condition that the subject has fewer than `limit` rows that are not revoked.
    ///
    /// Of two commits at the same moment that expect it of one subject, the later one counts what the
    /// earlier one added.
    case expectRoom(for: Subject, limit: Int)
    /// Adds a row; on condition that its id and its fingerprint are not there.
    case insertCredential(CredentialRow)
    /// Replaces a row; on condition that the stored version is one less than the row's.
    case updateCredential(CredentialRow)
    /// Adds a ticket; on condition that its digest is not there.
    case insertTicket(TicketRow)
    /// Takes the ticket with this digest away; on condition that it is there.
    case spendTicket(digest: [UInt8])
    /// Takes all tickets of a credential away, however many there are.
    case dropTickets(of: CredentialID)
    /// Keeps an answer; on condition that its key is not there.
    case insertAnswer(AnswerRow)
    /// Deletes what is sealed in the answers that hold a credential's secrets, however many there are;
    /// the rows stay, so that their requests are not decided again.
    case endAnswers(of: CredentialID)
    /// Adds a client; on condition that its id and its digest are not there.
    case insertClient(ClientRow)
    /// Replaces a client; on condition that the stored version is one less than the row's.
    case updateClient(ClientRow)
    /// Writes a row that means nothing into one of ``DecoyRow/slotCount`` slots, whatever is there.
    case writeDecoy(DecoyRow)
    /// Adds an event to the end of the store's chain, by ``EventChain``.
    case appendEvent(Event)

    /// Whether it may not hold; the others are done whatever is there.
    public var hasCondition: Bool {
        switch self {
        case .expectRoom, .insertCredential, .updateCredential, .insertTicket, .spendTicket,
            .insertAnswer, .insertClient, .updateClient:
            true
        case .dropTickets, .endAnswers, .writeDecoy, .appendEvent: false
        }
    }
}

/// What is written in place of a credential's row when there is none.
///
/// An attempt on an unknown subject must cost what a wrong code costs, and most of that is a durable
/// write. A decoy has a row's size and one of a few slots, so guessers fill no disk.
public struct DecoyRow: Hashable, Sendable {
    /// The primary key: 0 to ``slotCount`` - 1.
    public let slot: Int
    /// Bytes without a meaning.
    public let body: [UInt8]

    /// How many slots there are.
    public static let slotCount = 1_024

    /// Takes a slot, which is brought into the range.
    public init(slot: UInt64, body: [UInt8]) {
        self.slot = Int(slot % UInt64(Self.slotCount))
        self.body = body
    }

    /// A row of the usual shape, under an id that no credential has: to be looked for first, as a
    /// credential's row would be (V-06).
    public var sought: CredentialRow {
        guard let subject = Subject("nobody") else { preconditionFailure("a word is a subject") }
        return CredentialRow(
            id: .anywhere(), subject: subject, kind: .totp, state: .active, version: 1, keyID: nil,
            fingerprint: nil, createdAt: UnixTime(milliseconds: 0), lapsesAt: nil, body: body)
    }
}

/// How a commit ended.
public enum CommitOutcome: Hashable, Sendable {
    /// Everything is done and durable.
    case done
    /// A condition did not hold: somebody else was faster. Nothing is done; read and decide again.
    case conflict
}
