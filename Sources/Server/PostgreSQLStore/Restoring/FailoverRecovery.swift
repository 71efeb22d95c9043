internal import Verification
internal import WatchwordCryptography

/// The transaction that makes a database usable again after it was rolled back.
struct FailoverRecovery {
    static let statements: [StoreStatement] = [
        .credentialsByID, .clients, .updateCredentials, .updateClients, .appendEvents,
        .chains, .events, .closeChains, .beginChain, .leap,
    ]

    /// The gap before the positions of new events, so that they come after every position that a
    /// client may have read in the lost database.
    private static let positionGap: Int64 = 1_000_000_000

    private let session: PostgreSQLSession
    private let key: AuditKey
    private let now: UnixTime
    /// When the newest stored event happened.
    let newest: UnixTime
    private var lease: ChainLease
    private var position: UInt64 = 0

    /// Begins the transaction; other sessions can read, but wait before they write.
    init(_ session: PostgreSQLSession, key: AuditKey, now: UnixTime) throws(PostgreSQLFailure) {
        self.session = session
        self.key = key
        let node = Randomness.bytes(count: 16)
        var gap = StatementArguments()
        gap.add(Self.positionGap)
        let begun = try session.run([
            .text("BEGIN ISOLATION LEVEL READ COMMITTED"),
            .text(
                "LOCK TABLE credentials, tickets, challenges, answers, clients, chains, counter, "
                    + "events IN EXCLUSIVE MODE"),
            .run(.closeChains, .none), .run(.leap, gap), .run(.chains, .none),
        ])
        let chains = try begun.last?.all { row throws(PostgreSQLFailure) in try row.chain() }
        let last = try LastEvents(of: chains ?? [], session.events(after:limit:))
        let areAuthentic = last.areAuthentic(key)
        guard areAuthentic else { throw .chain }
        newest = last.newest ?? now
        self.now = max(now, newest)
        lease = try ChainLease(beginning: node, on: session, key: key)
    }

    mutating func run(
        keepingClients: Bool, ended known: Set<CredentialID>
    ) throws(PostgreSQLFailure) -> (report: FailoverRecoveryReport, end: AcknowledgedCheckpoint) {
        let (kept, ended) = try renewCredentials(known)
        let clients = try keepingClients ? 0 : revokeClients()
        try append([RecordedEvent(Event(.restored, time: now, number: Int64(ended)))], [])
        _ = try session.run([
            .text("DELETE FROM tickets"), .text("DELETE FROM challenges"),
            .text("DELETE FROM answers"), .text("DELETE FROM decoys"), .text("COMMIT"),
        ])
        let head = lease.chain.head()
        return (
            FailoverRecoveryReport(kept: kept, ended: ended, clientsRevoked: clients),
            AcknowledgedCheckpoint(mark: head, position: position)
        )
    }

    private mutating func renewCredentials(
        _ known: Set<CredentialID>
    ) throws(PostgreSQLFailure) -> (kept: Int, ended: Int) {
        var (kept, ended) = (0, 0)
        let (session, key) = (session, key)
        try session.allCredentials(key) { rows throws(PostgreSQLFailure) in
            var renewed: [BatchRow<CredentialRow>] = []
            var events: [RecordedEvent] = []
            for row in rows {
                let restored: RestoredRow?
                do {
                    restored = try row.afterRestoring(at: now, hasEnded: known.contains(row.id))
                } catch { throw .invalidRow }
                guard let restored else { continue }
                let next = wanted(restored.row, renewed.count)
                let mark = RowMark(next.row, code: next.code)
                events.append(RecordedEvent(restored.event, rows: [mark]))
                renewed.append(next)
                if restored.isEnded { ended += 1 } else { kept += 1 }
            }
            guard !renewed.isEmpty else { return }
            try append(events, [.run(.updateCredentials, StatementArguments(placing: renewed))])
        }
        return (kept, ended)
    }

    private mutating func revokeClients() throws(PostgreSQLFailure) -> Int {
        let all = try session.run(.clients, .none)
            .all { row throws(PostgreSQLFailure) in try row.client(key) }
        let revoked = all.compactMap { $0.afterRevoking(at: now) }
        guard !revoked.isEmpty else { return 0 }
        var rows: [BatchRow<ClientRow>] = []
        for row in revoked { rows.append(wanted(row, rows.count)) }
        try append(
            rows.map { wanted in
                RecordedEvent(
                    wanted.row.event(.clientRevoked, because: .restored, at: now),
                    rows: [RowMark(wanted.row, code: wanted.code)])
            },
            [.run(.updateClients, StatementArguments(placing: rows))])
        return revoked.count
    }

    private func wanted<Row: StoredRow>(_ row: Row, _ member: Int) -> BatchRow<Row> {
        let code = key.code(of: row)
        return BatchRow(member: member, row: row, code: code)
    }

    /// Applies the changes, and appends the events.
    private mutating func append(
        _ events: [RecordedEvent], _ commands: [PipelineCommand]
    ) throws(PostgreSQLFailure) {
        guard !events.isEmpty else {
            _ = try session.run(commands)
            return
        }
        var chain = lease.chain
        let results = try session.run(commands + [lease.append(events, to: &chain)])
        let last = try results.last?.first { row throws(PostgreSQLFailure) in try row.unsigned() }
        guard let last else { throw .invalidRow }
        position = last
        lease.move(to: chain, at: position)
    }
}
