internal import WatchwordCryptography

/// The reference implementation of a store, entirely in memory.
public actor MemoryStore: VerificationStore {
    var content: MemoryContent
    private let key: AuditKey

    /// Takes the identity of the store's only event chain and the key that authenticates it.
    ///
    /// - Parameter node: 16 random bytes that identify the event chain.
    public init(node: [UInt8], key: AuditKey) {
        self.key = key
        content = MemoryContent(chain: EventChain(node: node, key: key))
    }

    /// The row with this id.
    public func credential(_ id: CredentialID) -> CredentialRow? { content.credentials[id] }

    /// The row with this fingerprint.
    public func credential(fingerprint: [UInt8]) -> CredentialRow? {
        content.fingerprints[fingerprint].flatMap { content.credentials[$0] }
    }

    /// The rows that a query selects.
    public func credentials(_ query: CredentialQuery, limit: Int) -> [CredentialRow] {
        let rows: [CredentialRow]
        switch query {
        case .alive(let subject):
            rows = content.rows(of: subject).filter { $0.state != .revoked }
        case .revoked(let subject, let time):
            rows = content.rows(of: subject).reversed()
                .filter { $0.state == .revoked && $0.createdAt < time }
        case .aliveBySubject(let beginning, let last):
            rows = content.subjects.keys
                .filter { $0.utf8.starts(with: beginning) && last.map($0.follows) ?? true }
                .sorted { $1.follows($0) }
                .flatMap { content.rows(of: $0) }.filter { $0.state != .revoked }
        case .under(let key, let last):
            rows = content.credentials.values.filter { row in
                (key == nil || row.keyID == key) && last.map { $0 < row.id } ?? true
            }.sorted { $0.id < $1.id }
        }
        return Array(rows.prefix(limit))
    }

    /// The number of rows and recorded responses that use each key version.
    public func keyUsage() -> [KeyUsage] {
        var credentials: [KeyID: [CredentialKind: Int]] = [:]
        for row in content.credentials.values {
            if let id = row.keyID { credentials[id, default: [:]][row.kind, default: 0] += 1 }
        }
        var answers: [KeyID: Int] = [:]
        for row in content.answers.values {
            if let sealed = row.sealed { answers[sealed.keyID, default: 0] += 1 }
        }
        return Set(credentials.keys).union(answers.keys).sorted().map { id in
            KeyUsage(
                keyID: id, credentials: credentials[id] ?? [:], answers: answers[id] ?? 0)
        }
    }

    /// The ticket with this digest.
    public func ticket(digest: [UInt8]) -> TicketRow? { content.tickets[digest] }

    /// The challenge with this digest.
    public func challenge(digest: [UInt8]) -> ChallengeRow? { content.challenges[digest] }

    /// The recorded response under this key.
    public func answer(key: [UInt8]) -> AnswerRow? { content.answers[key] }

    /// The client with this digest.
    public func client(digest: [UInt8]) -> ClientRow? {
        content.clients.values.first { $0.digest == digest }
    }

    /// All clients, including revoked ones, oldest first.
    public func clients() -> [ClientRow] {
        content.clients.values.sorted { $0.createdAt < $1.createdAt }
    }

    /// Events in order of position.
    public func events(after position: UInt64, limit: Int) -> [ChainedEvent] {
        Array(content.events.lazy.filter { $0.position > position }.prefix(limit))
    }

    /// The start and head of the chain.
    public func chains() -> [ChainRecord] {
        [content.record(key)]
    }

    /// Applies all of `changes`, in order, or none.
    public func commit(_ changes: [StoreChange]) -> CommitOutcome {
        // Each condition sees the effect of the earlier changes.
        var changed = content
        let authenticated = key.authenticating(changes)
        for change in authenticated {
            guard changed.allows(change.change) else { return .conflict }
            changed.apply(change.change, rows: change.rows)
        }
        content = changed
        return .done
    }

    /// Deletes expired rows and old events, as the rule specifies.
    public func prune(_ pruning: Pruning) -> PruningOutcome {
        content.prune(pruning, key: key)
    }
}

/// The contents of a ``MemoryStore``.
struct MemoryContent: Sendable {
    private(set) var credentials: [CredentialID: CredentialRow] = [:]
    private(set) var subjects: [Subject: Set<CredentialID>] = [:]
    private(set) var fingerprints: [[UInt8]: CredentialID] = [:]
    private(set) var tickets: [[UInt8]: TicketRow] = [:]
    private(set) var challenges: [[UInt8]: ChallengeRow] = [:]
    private(set) var answers: [[UInt8]: AnswerRow] = [:]
    private(set) var clients: [[UInt8]: ClientRow] = [:]
    private(set) var dummies: [Int: DummyRow] = [:]
    private(set) var events: [ChainedEvent] = []
    private(set) var chain: EventChain
    private(set) var start: ChainStart?

    init(chain: EventChain) { self.chain = chain }

    /// A subject's rows, oldest first.
    func rows(of subject: Subject) -> [CredentialRow] {
        (subjects[subject] ?? []).compactMap { credentials[$0] }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// The start and head of the chain.
    func record(_ key: AuditKey) -> ChainRecord {
        let origin = EventChain(node: chain.node, key: key).start()
        return ChainRecord(
            start: start ?? origin, head: chain.head(), headPosition: chain.position)
    }

    /// Whether the condition of a change holds.
    func allows(_ change: StoreChange) -> Bool {
        switch change {
        case .requireCapacity(let subject, let limit):
            (subjects[subject] ?? []).count { credentials[$0]?.state != .revoked } < limit
        case .insertCredential(let row):
            credentials[row.id] == nil && isFree(row.fingerprint, for: row.id)
        case .updateCredential(let row):
            credentials[row.id].map { $0.version + 1 == row.version } ?? false
                && isFree(row.fingerprint, for: row.id)
        case .insertTicket(let row): tickets[row.digest] == nil
        case .spendTicket(let digest): tickets[digest] != nil
        case .insertChallenge(let row): challenges[row.digest] == nil
        case .spendChallenge(let digest): challenges[digest] != nil
        case .insertAnswer(let row), .writeDummyAnswer(let row): answers[row.key] == nil
        case .insertClient(let row):
            clients[row.id] == nil
                && !clients.values.contains { other in
                    other.digest == row.digest
                        || other.revokedAt == nil && row.revokedAt == nil && other.name == row.name
                }
        case .updateClient(let row):
            clients[row.id].map { $0.version + 1 == row.version } ?? false
                && !clients.values.contains { $0.id != row.id && $0.digest == row.digest }
        case .dropTickets, .dropChallenge, .endAnswers, .writeDummy, .appendEvent,
            .writeDummyEvent:
            true
        }
    }

    /// Applies a change whose condition holds.
    ///
    /// - Parameter rows: the rows that an event names.
    mutating func apply(_ change: StoreChange, rows: [RowMark] = []) {
        switch change {
        case .requireCapacity: break
        case .insertCredential(let row), .updateCredential(let row): put(row)
        case .insertTicket(let row): tickets[row.digest] = row
        case .spendTicket(let digest): tickets[digest] = nil
        case .dropTickets(let id):
            for (digest, row) in tickets where row.credential == id { tickets[digest] = nil }
        case .insertChallenge(let row): challenges[row.digest] = row
        case .spendChallenge(let digest), .dropChallenge(let digest): challenges[digest] = nil
        case .insertAnswer(let row): answers[row.key] = row
        case .endAnswers(let id): endAnswers(of: id)
        case .insertClient(let row), .updateClient(let row): clients[row.id] = row
        case .writeDummy(let row): dummies[row.slot] = row
        case .writeDummyEvent(let event):
            let row = DummyRow(event)
            dummies[row.slot] = row
        case .writeDummyAnswer(let answer):
            let row = DummyRow(answer)
            dummies[row.slot] = row
        case .appendEvent(let event): append(RecordedEvent(event, rows: rows))
        }
    }

    mutating func prune(_ pruning: Pruning, key: AuditKey) -> PruningOutcome {
        let lapsed = credentials.values.filter { row in
            row.state != .active && row.lapsesAt.map(pruning.isDue) ?? false
        }.prefix(pruning.limit)
        for row in lapsed {
            remove(row)
            endAnswers(of: row.id)
        }
        let oldTickets = tickets.values.filter { pruning.isDue($0.expiresAt) }
            .prefix(pruning.limit)
        for row in oldTickets { tickets[row.digest] = nil }
        let oldChallenges = challenges.values.filter { row in
            pruning.challengesAt.map { row.expiresAt <= $0 } ?? false
        }
        .prefix(pruning.limit)
        for row in oldChallenges { challenges[row.digest] = nil }
        let oldAnswers = answers.values.filter { pruning.isDue($0.expiresAt) }
            .prefix(pruning.limit)
        for row in oldAnswers { answers[row.key] = nil }
        let old = ExpiredEvents(
            Array(events.prefix(pruning.limit)), chains: [record(key)], pruning: pruning, key: key)
        if let newStart = old.starts.first { start = newStart }
        events.removeFirst(old.count)
        var outcome = PruningOutcome()
        outcome.credentials = lapsed.count
        outcome.tickets = oldTickets.count
        outcome.challenges = oldChallenges.count
        outcome.answers = oldAnswers.count
        outcome.events = old.count
        outcome.areEventsAltered = old.areAltered
        return outcome
    }

    private mutating func endAnswers(of id: CredentialID) {
        for (key, row) in answers where row.credential == id {
            answers[key] = row.ended
        }
    }

    private func isFree(_ fingerprint: [UInt8]?, for id: CredentialID) -> Bool {
        fingerprint.map { fingerprints[$0] ?? id == id } ?? true
    }

    private mutating func put(_ row: CredentialRow) {
        if let stored = credentials[row.id] { remove(stored) }
        credentials[row.id] = row
        subjects[row.subject, default: []].insert(row.id)
        if let fingerprint = row.fingerprint { fingerprints[fingerprint] = row.id }
    }

    private mutating func remove(_ row: CredentialRow) {
        credentials[row.id] = nil
        subjects[row.subject]?.remove(row.id)
        if let fingerprint = row.fingerprint { fingerprints[fingerprint] = nil }
    }

    private mutating func append(_ event: RecordedEvent) {
        events.append(chain.append(event, position: chain.sequence + 1))
    }
}

extension Subject {
    fileprivate func follows(_ other: Subject) -> Bool {
        other.utf8.lexicographicallyPrecedes(utf8)
    }
}

extension Pruning {
    fileprivate func isDue(_ time: UnixTime) -> Bool { now.map { time <= $0 } ?? false }
}
