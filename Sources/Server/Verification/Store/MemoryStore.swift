internal import WatchwordCryptography

/// The reference implementation of a store, entirely in memory.
public actor MemoryStore: VerificationStore {
    var content: MemoryContent
    private let key: AuditKey

    /// Creates an empty store.
    ///
    /// - Parameter node: 16 random bytes that identify the event chain.
    public init(node: [UInt8], key: AuditKey) {
        self.key = key
        content = MemoryContent(chain: EventChain(node: node, key: key))
    }

    /// The row with this id.
    public func credential(_ id: CredentialID) -> CredentialRow? { content.credentials[id] }

    /// A subject's rows that are not revoked, oldest first, or its revoked rows, newest first.
    public func credentials(
        of subject: Subject, revokedBefore time: UnixTime?, limit: Int
    ) -> [CredentialRow] {
        let ids = content.subjects[subject] ?? []
        let rows = ids.compactMap { content.credentials[$0] }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        guard let time else { return Array(rows.filter { $0.state != .revoked }.prefix(limit)) }
        let revoked = rows.reversed().filter { $0.state == .revoked && $0.createdAt < time }
        return Array(revoked.prefix(limit))
    }

    /// The row with this fingerprint.
    public func credential(fingerprint: [UInt8]) -> CredentialRow? {
        content.fingerprints[fingerprint].flatMap { content.credentials[$0] }
    }

    /// The rows that use a key version, in order of id.
    public func credentials(
        under key: KeyID?, after: CredentialID?, limit: Int
    ) -> [CredentialRow] {
        let rows = content.credentials.values.filter { row in
            (key == nil || row.keyID == key) && after.map { $0 < row.id } ?? true
        }
        return Array(rows.sorted { $0.id < $1.id }.prefix(limit))
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

    /// All clients, oldest first.
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

    /// Deletes expired rows and old events.
    public func prune(_ pruning: Pruning) -> PruningOutcome {
        content.prune(pruning, key: key)
    }
}
