/// What the verifier asks of a database.
///
/// A commit is all or nothing, and durable before it returns. Commits happen one after the other:
/// what one has written, every read sees that begins after its end, on every connection and in every
/// process. Reads need no transaction. ``MemoryStore`` is the reference; `StoreContract` tests the
/// others.
public protocol VerificationStore: Sendable {
    /// The row with this id.
    func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow?

    /// A subject's rows, the oldest first; those that are revoked only when they are asked for.
    ///
    /// - Parameter limit: at most so many, the youngest left out.
    func credentials(
        of subject: Subject, includingRevoked: Bool, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow]

    /// The row with this fingerprint.
    func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow?

    /// The rows that hang on a key, by id from behind `after` on; of all keys when it is nil.
    func credentials(
        under key: KeyID?, after: CredentialID?, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow]

    /// How many rows and answers hang on each key.
    func keyUsage() async throws(StoreFailure) -> [KeyUsage]

    /// The ticket with this digest, also when it has expired.
    func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow?

    /// The answer kept under this key, also when it has ended or expired.
    func answer(key: [UInt8]) async throws(StoreFailure) -> AnswerRow?

    /// The client with this digest, also when it is revoked.
    func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow?

    /// All clients, the oldest first.
    func clients() async throws(StoreFailure) -> [ClientRow]

    /// Events in the order of their positions, from behind `position` on.
    ///
    /// An event that became visible never gets an earlier one before it afterwards, so that who
    /// reads on from the last position misses none.
    func events(
        after position: UInt64, limit: Int
    ) async throws(StoreFailure) -> [ChainedEvent]

    /// Where each node's chain begins and ends.
    func chains() async throws(StoreFailure) -> [ChainRecord]

    /// Does all of `changes` or none; no two of them concern the same row.
    func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome

    /// Takes away what has had its time.
    func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome
}

/// How much hangs on a key version.
public struct KeyUsage: Hashable, Sendable {
    /// The key version.
    public let keyID: KeyID
    /// Rows of each kind that are sealed or keyed with it.
    public let credentials: [CredentialKind: Int]
    /// Answers that are sealed with it; they go by themselves within a day.
    public let answers: Int

    /// Takes the counts.
    public init(keyID: KeyID, credentials: [CredentialKind: Int], answers: Int) {
        self.keyID = keyID
        self.credentials = credentials
        self.answers = answers
    }
}

/// What may be taken away.
public struct Pruning: Hashable, Sendable {
    /// Pending rows whose time is up now, expired tickets and expired answers go; `nil` keeps them.
    ///
    /// With a pending row goes what answers hold of its secrets.
    public let now: UnixTime?
    /// Events from before this moment go, at each chain's beginning only; nothing keeps all.
    public let eventsBefore: UnixTime?
    /// At most so many of each in one call, so that nobody waits long behind it.
    public let limit: Int

    /// Takes what may go.
    public init(now: UnixTime?, eventsBefore: UnixTime? = nil, limit: Int = 1_000) {
        self.now = now
        self.eventsBefore = eventsBefore
        self.limit = limit
    }
}

/// What was taken away.
public struct PruningOutcome: Hashable, Sendable {
    /// Pending rows.
    public let credentials: Int
    /// Tickets.
    public let tickets: Int
    /// Answers.
    public let answers: Int
    /// Events.
    public let events: Int
    /// Whether old events stay because they are not what was written (``OldEvents/areAltered``).
    public let areEventsAltered: Bool

    /// Takes the counts.
    public init(
        credentials: Int, tickets: Int, answers: Int, events: Int, areEventsAltered: Bool = false
    ) {
        self.credentials = credentials
        self.tickets = tickets
        self.answers = answers
        self.events = events
        self.areEventsAltered = areEventsAltered
    }
}
