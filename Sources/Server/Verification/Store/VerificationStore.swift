internal import WatchwordCryptography

/// The operations that the verifier needs from a database.
///
/// A commit is atomic, and durable before it returns. Commits are serialised: every read that
/// starts after a commit has ended sees the commit's changes, on every connection and in every
/// process. Reads need no transaction. ``MemoryStore`` is the reference implementation;
/// `StoreContract` tests the other stores.
public protocol VerificationStore: Sendable {
    /// The row with this id.
    func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow?

    /// The row with this fingerprint.
    func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow?

    /// The rows that a query selects.
    ///
    /// - Parameter limit: the maximum number of rows; if there are more, the last rows are omitted.
    func credentials(
        _ query: CredentialQuery, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow]

    /// The number of rows and recorded responses that use each key version.
    func keyUsage() async throws(StoreFailure) -> [KeyUsage]

    /// The ticket with this digest, even if it has expired.
    func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow?

    /// The challenge with this digest, even if it has expired.
    func challenge(digest: [UInt8]) async throws(StoreFailure) -> ChallengeRow?

    /// The challenge with this digest, even if it has expired, and the credential that answers it.
    ///
    /// Most stores can read both in little more time than one.
    func challenge(
        digest: [UInt8], answeredBy credential: AnsweringCredential
    ) async throws(StoreFailure) -> (challenge: ChallengeRow?, credential: CredentialRow?)

    /// The row of the response recorded under this key, even if the response has been deleted or
    /// has expired.
    func answer(key: [UInt8]) async throws(StoreFailure) -> AnswerRow?

    /// The client with this digest, even if it is revoked.
    func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow?

    /// All clients, including revoked ones, oldest first.
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
    /// No two changes concern the same row.
    func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome

    /// Deletes expired rows and old events.
    func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome
}

extension VerificationStore {
    /// Reads the rows one after the other.
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

/// The selection of the credentials that a store reads, and their order.
public enum CredentialQuery: Hashable, Sendable {
    /// A subject's rows that are not revoked, oldest first.
    case alive(of: Subject)
    /// A subject's revoked rows that were created before a time, newest first.
    case revoked(of: Subject, before: UnixTime)
    /// The rows that are not revoked of the subjects that begin with these bytes, subject by
    /// subject and starting after `after`; the rows of one subject oldest first.
    case aliveBySubject(beginning: [UInt8], after: Subject?)
    /// The rows that use a key version, ordered by id and starting after `after`; a version of
    /// `nil` means all versions.
    case under(KeyID?, after: CredentialID?)
}

/// The value that identifies the credential of an answer.
public enum AnsweringCredential: Hashable, Sendable {
    /// The credential's id.
    case id(CredentialID)
    /// The credential's fingerprint, 32 bytes.
    case fingerprint([UInt8])
}

/// The number of rows and responses that use a key version.
public struct KeyUsage: Hashable, Sendable {
    /// The version that the counts are for.
    public let keyID: KeyID
    /// The number of rows of each kind that are sealed under this version or keyed with it.
    public let credentials: [CredentialKind: Int]
    /// The number of recorded responses that are sealed under this version.
    ///
    /// Recorded responses expire within a day.
    public let answers: Int

    /// Takes the version and its counts.
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

/// The rule that determines which rows and events may be deleted.
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
    /// The maximum number of rows of each kind that one call deletes, so that other commits never
    /// wait for long.
    public let limit: Int

    /// Takes the times and the limit; without a separate time, challenges are deleted like other
    /// rows.
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

/// The number of deleted rows of each kind.
public struct PruningOutcome: Hashable, Sendable {
    /// The number of deleted credentials.
    public var credentials = 0
    /// The number of deleted tickets.
    public var tickets = 0
    /// The number of deleted challenges.
    public var challenges = 0
    /// The number of deleted responses.
    public var answers = 0
    /// The number of deleted events.
    public var events = 0
    /// Whether old events are kept because they are not authentic (``ExpiredEvents/areAltered``).
    public var areEventsAltered = false

    /// Sets all counts to 0.
    public init() {}
}

/// A failure of the store: its kind, but not the affected data.
///
/// A commit that is reported as failed may still have taken effect, for example if the connection
/// broke before the response. Nothing may be accepted in that case.
public struct StoreFailure: Error, Hashable, Sendable {
    /// The kinds of failure that matter to an operator.
    public enum FailureKind: String, CaseIterable, Hashable, Sendable {
        /// There is no connection, or the connection broke.
        case unavailable
        /// The database was locked or overloaded for longer than the timeout.
        case busy
        /// There is no space left.
        case full
        /// The database is not writable.
        case readOnly
        /// The stored data is damaged.
        case damaged
        /// A newer version of the program created the stored data.
        case newer
    }

    /// The kind of failure, for an operator.
    public let kind: FailureKind
    /// The database's own code, such as `SQLITE_BUSY` or an SQLSTATE; empty if there is none.
    public let code: String

    /// Takes the kind and the database's code.
    public init(_ kind: FailureKind, code: String = "") {
        self.kind = kind
        self.code = code
    }
}

extension VerificationStore {
    /// The single rule for the data that may be deleted at `now` because of its age.
    ///
    /// If the clock is ahead, everything looks old, and deleted data does not come back when the
    /// clock is corrected. Nothing is therefore deleted unless the events confirm the time
    /// (``confirmsClock(_:keepingEventsFor:key:)``), apart from challenges, with a tolerance that
    /// depends on the lifetime of the data. A caller that can also check the clock in another way,
    /// for example by asking the kernel, does so first. A credential in use is never deleted
    /// because of its age: an expired secret is denied, and its credential stays unchanged.
    ///
    /// - Parameters:
    ///   - eventLifetime: milliseconds for which events are kept; `nil` keeps all.
    ///   - key: proves that an event is authentic.
    public func pruning(
        at now: UnixTime, keepingEventsFor eventLifetime: Int64?, key: AuditKey
    ) async throws(StoreFailure) -> Pruning {
        let isDayConfirmed = try await confirmsClock(
            now, keepingEventsFor: Policy.answerLifetime, key: key)
        var horizon: UnixTime?
        if let eventLifetime,
            try await confirmsClock(now, keepingEventsFor: eventLifetime, key: key)
        {
            horizon = now.adding(milliseconds: -eventLifetime)
        }
        return Pruning(
            now: isDayConfirmed ? now : nil, challengesAt: Pruning.challengeHorizon(at: now),
            eventsBefore: horizon)
    }

    /// Deletes everything that has expired, in small batches, so that other commits never wait for
    /// long.
    ///
    /// Ends early if its task is cancelled.
    ///
    /// - Returns: the number of deleted rows.
    @discardableResult public func pruneAll(
        _ pruning: Pruning
    ) async throws(StoreFailure) -> PruningOutcome {
        let part = Pruning(
            now: pruning.now, challengesAt: pruning.challengesAt,
            eventsBefore: pruning.eventsBefore, limit: 250)
        var all = PruningOutcome()
        while true {
            let gone = try await prune(part)
            all.credentials += gone.credentials
            all.tickets += gone.tickets
            all.challenges += gone.challenges
            all.answers += gone.answers
            all.events += gone.events
            all.areEventsAltered = all.areEventsAltered || gone.areEventsAltered
            let counts = [
                gone.credentials, gone.tickets, gone.challenges, gone.answers, gone.events,
            ]
            guard counts.contains(where: { $0 >= part.limit }), !Task.isCancelled else {
                return all
            }
        }
    }

    /// Whether the events confirm that the current time is `now`, so that data that is old at that
    /// time may be deleted.
    ///
    /// If the clock jumped ahead, everything looks old, and events written since then prove
    /// nothing. There must therefore be an event from between one and four weeks ago; for data with
    /// a lifetime of less than eight weeks, from between an eighth and a half of the lifetime ago.
    /// If the clock is further ahead than that, it must run for a week, or for an eighth of the
    /// lifetime, before any data is deleted by this clock. If there was no event in the required
    /// period, old data is kept until a newer event is old enough. An event that is not authentic
    /// confirms nothing.
    ///
    /// - Parameters:
    ///   - lifetime: the lifetime of the data, in milliseconds.
    ///   - key: proves that an event is authentic.
    public func confirmsClock(
        _ now: UnixTime, keepingEventsFor lifetime: Int64, key: AuditKey
    ) async throws(StoreFailure) -> Bool {
        let latest = min(7 * 86_400_000, lifetime / 8)
        let earliest = now.adding(milliseconds: -4 * latest)
        let position = try await position(before: earliest)
        guard let witness = try await events(after: position, limit: 1).first else { return false }
        guard witness.time >= earliest, witness.time <= now.adding(milliseconds: -latest) else {
            return false
        }
        return try await isAuthentic(witness, key)
    }

    /// The position before the first event at or after `time`.
    ///
    /// Events are ordered by time, apart from differences between clocks.
    func position(before time: UnixTime) async throws(StoreFailure) -> UInt64 {
        var (low, high): (UInt64, UInt64) = (0, UInt64(Int64.max))
        while low < high {
            let middle = low + (high - low) / 2
            if let found = try await events(after: middle, limit: 1).first, found.time < time {
                low = found.position
            } else {
                high = middle
            }
        }
        return low
    }

    /// Whether an event with its time was chained to the previous event of its chain.
    private func isAuthentic(
        _ event: ChainedEvent, _ key: AuditKey
    ) async throws(StoreFailure) -> Bool {
        guard event.event?.time == event.time, let digest = try await digest(before: event) else {
            return false
        }
        let expected = key.tying(event, behind: digest).digest
        return isEqualInConstantTime(expected.span, event.digest.span)
    }

    /// The digest of the previous event in the chain, which may be the last pruned event.
    private func digest(before event: ChainedEvent) async throws(StoreFailure) -> [UInt8]? {
        // The previous event is in the same commit, at the preceding position, or it is the last
        // event of the chain's previous commit.
        for position in [event.position - 1, event.behind] where position > 0 {
            let found = try await events(after: position - 1, limit: 1).first
            if let found, found.node == event.node, found.sequence + 1 == event.sequence {
                return found.digest
            }
        }
        let start = try await chains().first { $0.start.node == event.node }?.start
        return start.flatMap { $0.sequence + 1 == event.sequence ? $0.digest : nil }
    }
}

extension Pruning {
    /// The time by which a challenge must have expired to be deleted at `now`: a minute ago.
    ///
    /// The events need not confirm the clock. A missing challenge only requires another attempt,
    /// and anyone can add challenges, so they must not accumulate. The minute allows for clocks
    /// that differ.
    public static func challengeHorizon(at now: UnixTime) -> UnixTime {
        now.adding(milliseconds: -60_000)
    }
}
