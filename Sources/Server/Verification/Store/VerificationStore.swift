/// The operations that the verifier needs from a database.
///
/// A commit is atomic, and durable before it returns. Commits are serialised: every read that
/// starts after a commit has ended sees its changes, on every connection and in every process.
/// Reads need no transaction. ``MemoryStore`` is the reference implementation; `StoreContract`
/// tests the other stores.
public protocol VerificationStore: Sendable {
    /// The row with this id.
    func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow?

    /// A subject's rows that are not revoked, oldest first, or its revoked rows, newest first.
    ///
    /// - Parameters:
    ///   - time: only the revoked rows that were created before it; `nil` for the rows that are not
    ///     revoked.
    ///   - limit: the maximum number of rows; if there are more, the last ones are left out.
    func credentials(
        of subject: Subject, revokedBefore time: UnixTime?, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow]

    /// The row with this fingerprint.
    func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow?

    /// The rows that use a key version, ordered by id and starting after `after`; a version of
    /// `nil` means all versions.
    func credentials(
        under key: KeyID?, after: CredentialID?, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow]

    /// The number of rows and recorded responses that use each key version.
    func keyUsage() async throws(StoreFailure) -> [KeyUsage]

    /// The ticket with this digest, even if it has expired.
    func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow?

    /// The challenge with this digest, even if it has expired.
    func challenge(digest: [UInt8]) async throws(StoreFailure) -> ChallengeRow?

    /// The challenge with this digest, even if it has expired, and the credential that answers it.
    ///
    /// Most stores can read both in little more than the time of one.
    func challenge(
        digest: [UInt8], answeredBy credential: AnsweringCredential
    ) async throws(StoreFailure) -> (challenge: ChallengeRow?, credential: CredentialRow?)

    /// The row of the response recorded under this key, even if the response has been deleted or
    /// has expired.
    func answer(key: [UInt8]) async throws(StoreFailure) -> AnswerRow?

    /// The client with this digest, even if it is revoked.
    func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow?

    /// All clients, oldest first.
    func clients() async throws(StoreFailure) -> [ClientRow]

    /// Events after `position`, in order of position.
    ///
    /// Once an event is visible, no event with an earlier position appears. A reader that continues
    /// from the last position therefore misses none.
    func events(
        after position: UInt64, limit: Int
    ) async throws(StoreFailure) -> [ChainedEvent]

    /// The start and head of each node's chain.
    func chains() async throws(StoreFailure) -> [ChainRecord]

    /// Applies all of `changes`, or none.
    ///
    /// No two of them concern the same row.
    func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome

    /// Deletes expired rows and old events.
    func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome
}

extension VerificationStore {
    /// Reads one row after the other.
    public func challenge(
        digest: [UInt8], answeredBy credential: AnsweringCredential
    ) async throws(StoreFailure) -> (challenge: ChallengeRow?, credential: CredentialRow?) {
        let found = try await challenge(digest: digest)
        switch credential {
        case .id(let id): return (found, try await self.credential(id))
        case .fingerprint(let fingerprint):
            return (found, try await self.credential(fingerprint: fingerprint))
        }
    }
}

/// What identifies a credential.
public enum AnsweringCredential: Hashable, Sendable {
    /// Its id.
    case id(CredentialID)
    /// Its fingerprint.
    case fingerprint([UInt8])
}

/// How many rows and responses use a key version.
public struct KeyUsage: Hashable, Sendable {
    /// The key version.
    public let keyID: KeyID
    /// The number of rows of each kind that are sealed or keyed with it.
    public let credentials: [CredentialKind: Int]
    /// The number of recorded responses sealed with it.
    ///
    /// They expire within a day.
    public let answers: Int

    /// Creates the value from counts.
    public init(keyID: KeyID, credentials: [CredentialKind: Int], answers: Int) {
        self.keyID = keyID
        self.credentials = credentials
        self.answers = answers
    }

    /// Adds up the counts of each key version, ordered by version.
    package static func totals(_ counts: [KeyUsage]) -> [KeyUsage] {
        Dictionary(grouping: counts, by: \.keyID).sorted { $0.key < $1.key }.map { keyID, parts in
            KeyUsage(
                keyID: keyID,
                credentials: parts.reduce(into: [:]) { sums, part in
                    sums.merge(part.credentials, uniquingKeysWith: +)
                },
                answers: parts.reduce(0) { $0 + $1.answers })
        }
    }
}

/// What may be deleted.
public struct Pruning: Hashable, Sendable {
    /// Unconfirmed enrolments, ended credentials that prove nothing (``CredentialRow/lapsesAt``),
    /// tickets and responses that have expired by this time are deleted; `nil` keeps them.
    ///
    /// With an unconfirmed enrolment, the secrets in its recorded responses are deleted.
    public let now: UnixTime?
    /// Challenges that have expired by this time are deleted; `nil` keeps them.
    public let challengesAt: UnixTime?
    /// Events before this time are deleted, only from the start of each chain; `nil` keeps all.
    public let eventsBefore: UnixTime?
    /// The maximum number of each kind to delete in one call, so that other commits never wait for
    /// long.
    public let limit: Int

    /// Creates a rule; without a time of their own, challenges are deleted like everything else.
    public init(
        now: UnixTime?, challengesAt: UnixTime? = nil, eventsBefore: UnixTime? = nil,
        limit: Int = 1_000
    ) {
        self.now = now
        self.challengesAt = challengesAt ?? now
        self.eventsBefore = eventsBefore
        self.limit = limit
    }
}

/// The number of deleted rows.
public struct PruningOutcome: Hashable, Sendable {
    /// Deleted rows of credentials.
    public let credentials: Int
    /// Deleted tickets.
    public let tickets: Int
    /// Deleted challenges.
    public let challenges: Int
    /// Deleted recorded responses.
    public let answers: Int
    /// Deleted events.
    public let events: Int
    /// Whether old events are kept because they are not authentic (``ExpiredEvents/areAltered``).
    public let areEventsAltered: Bool

    /// Creates the value from counts.
    public init(
        credentials: Int, tickets: Int, challenges: Int, answers: Int, events: Int,
        areEventsAltered: Bool = false
    ) {
        self.credentials = credentials
        self.tickets = tickets
        self.challenges = challenges
        self.answers = answers
        self.events = events
        self.areEventsAltered = areEventsAltered
    }
}
