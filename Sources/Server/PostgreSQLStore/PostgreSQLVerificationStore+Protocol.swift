internal import SQLStore
public import Verification
internal import WatchwordCryptography

extension PostgreSQLVerificationStore: VerificationStore {
    /// The row with this id.
    public func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow? {
        try await found(.id(id)).get()
    }

    /// The rows that a query selects.
    public func credentials(
        _ query: CredentialQuery, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        let question: ReadJob.Query
        if case .alive(let subject) = query {
            question = .alive(subject: subject.utf8, limit: limit)
        } else {
            let (statement, arguments) = query.statement(limit: limit)
            question = .alone(statement, StatementArguments(arguments))
        }
        return try await read(question) { [key] rows throws(StoreFailure) in
            try rows.credentials(key)
        }
    }

    /// The row with this fingerprint.
    public func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow? {
        try await found(.fingerprint(fingerprint)).get()
    }

    private func found(
        _ name: AnsweringCredential
    ) async -> Result<CredentialRow?, StoreFailure> {
        switch name {
        case .id(let id):
            await answer(.alone(.credentialByID, StatementArguments(id))) {
                [key] rows throws(StoreFailure) in try rows.credential(id, key)
            }
        case .fingerprint(let bytes):
            await answer(.alone(.credentialByFingerprint, StatementArguments(bytes))) {
                [key] rows throws(StoreFailure) in try rows.credentials(key).first
            }
        }
    }

    /// The number of rows and recorded responses that use each key version.
    public func keyUsage() async throws(StoreFailure) -> [KeyUsage] {
        let credentials = try await read(.credentialUsage) { rows throws(StoreFailure) in
            try rows.all { row throws(StoreFailure) in try row.credentialUsage() }
        }
        let answers = try await read(.answerUsage) { rows throws(StoreFailure) in
            try rows.all { row throws(StoreFailure) in try row.answerUsage() }
        }
        return KeyUsage.totals(credentials + answers)
    }

    /// The ticket with this digest, even if it has expired.
    public func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow? {
        try await first(.ticket, digest).get()
    }

    /// The challenge with this digest, even if it has expired.
    public func challenge(digest: [UInt8]) async throws(StoreFailure) -> ChallengeRow? {
        try await first(.challenge, digest).get()
    }

    /// The challenge with this digest, even if it has expired, and the credential that answers the
    /// challenge.
    public func challenge(
        digest: [UInt8], answeredBy name: AnsweringCredential
    ) async throws(StoreFailure) -> (challenge: ChallengeRow?, credential: CredentialRow?) {
        // Both reads are sent together.
        async let challenge: Result<ChallengeRow?, StoreFailure> = first(.challenge, digest)
        let credential = await found(name)
        return (try await challenge.get(), try credential.get())
    }

    /// The row of the response recorded under this key, even if the response has been deleted or
    /// has expired.
    public func answer(key name: [UInt8]) async throws(StoreFailure) -> AnswerRow? {
        try await first(.answer, name).get()
    }

    /// The client with this digest, even if it is revoked.
    public func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow? {
        try await first(.clientByDigest, digest).get()
    }

    /// All clients, including revoked ones, oldest first.
    public func clients() async throws(StoreFailure) -> [ClientRow] {
        try await read(.clients) { [key] rows throws(StoreFailure) in
            try rows.all { row throws(StoreFailure) in try row.row(key) }
        }
    }

    /// The events after `position`, ordered by position.
    public func events(
        after position: UInt64, limit: Int
    ) async throws(StoreFailure) -> [ChainedEvent] {
        try await read(.events, position, limit) { rows throws(StoreFailure) in
            try rows.all { row throws(StoreFailure) in try row.event() }
        }
    }

    /// Where each chain begins and ends, oldest first.
    public func chains() async throws(StoreFailure) -> [ChainRecord] {
        try await read(.chains) { rows throws(StoreFailure) in
            try rows.all { row throws(StoreFailure) in try row.chain() }
        }
    }

    /// Applies all of `changes`, in order, or none; they are durable when the call returns.
    public func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        let authenticated = key.authenticating(changes)
        return try await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<CommitOutcome, StoreFailure>, Never>) in
            writers.submit(CommitJob(authenticated) { continuation.resume(returning: $0) })
        }.get()
    }

    /// The row of a table with this key.
    private func first<Row: ColumnRow>(
        _ statement: StoreStatement, _ name: [UInt8]
    ) async -> Result<Row?, StoreFailure> {
        await answer(.alone(statement, StatementArguments(name))) {
            [key] rows throws(StoreFailure) in
            try rows.first { row throws(StoreFailure) in try row.row(key) }
        }
    }

    private func read<Found: Sendable>(
        _ statement: StoreStatement, _ arguments: (any ColumnValue)...,
        take: @escaping @Sendable (PostgreSQLRows) throws(StoreFailure) -> Found
    ) async throws(StoreFailure) -> Found {
        let values = StatementArguments(arguments.map(\.storedValue))
        return try await answer(.alone(statement, values), take).get()
    }

    private func read<Found: Sendable>(
        _ question: ReadJob.Query,
        _ take: @escaping @Sendable (PostgreSQLRows) throws(StoreFailure) -> Found
    ) async throws(StoreFailure) -> Found {
        try await answer(question, take).get()
    }

    private func answer<Found: Sendable>(
        _ question: ReadJob.Query,
        _ take: @escaping @Sendable (PostgreSQLRows) throws(StoreFailure) -> Found
    ) async -> Result<Found, StoreFailure> {
        await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Found, StoreFailure>, Never>) in
            readers.submit(
                ReadJob(question: question) { answer in
                    continuation.resume(
                        returning: Result { () throws(StoreFailure) in try take(answer.get()) })
                })
        }
    }
}

extension PostgreSQLRows {
    /// The row with this id, which ``StoreStatement/credentialByID`` looked up.
    fileprivate func credential(
        _ id: CredentialID, _ key: AuditKey
    ) throws(StoreFailure) -> CredentialRow? {
        let found = try first { row throws(StoreFailure) in try row.credential(id, key) }
        guard let found else {
            key.checkDummy()
            return nil
        }
        return found
    }

    /// Every row, as a credential.
    ///
    /// If there are no rows, the check takes as long as for one row (V-06).
    fileprivate func credentials(_ key: AuditKey) throws(StoreFailure) -> [CredentialRow] {
        let rows = try all { row throws(StoreFailure) in try row.row(key) as CredentialRow }
        if rows.isEmpty {
            key.checkDummy()
        }
        return rows
    }
}

extension PostgreSQLVerificationStore {
    /// Deletes expired rows and old events in one short transaction, while decisions continue.
    ///
    /// If two processes prune at the same time, one waits for the other.
    public func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        try await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<PruningOutcome, StoreFailure>, Never>) in
            keepers.submit(
                MaintenanceJob(pruning: pruning, key: key) { continuation.resume(returning: $0) })
        }.get()
    }
}

/// A pruning job waiting for a connection.
struct MaintenanceJob: Sendable {
    let pruning: Pruning
    let key: AuditKey
    /// Receives the outcome on the connection's thread.
    let finish: @Sendable (Result<PruningOutcome, StoreFailure>) -> Void
}

extension PostgreSQLSession {
    func runHousekeeping(_ jobs: [MaintenanceJob])
        -> ConnectionPool<PostgreSQLSession, MaintenanceJob>.Verdict
    {
        var isLost = false
        for job in jobs {
            do throws(StoreFailure) {
                job.finish(.success(try prune(job.pruning, key: job.key)))
            } catch {
                job.finish(.failure(error))
                // A new session begins without an open transaction.
                isLost = true
            }
        }
        return .init(isLost: isLost)
    }

    private func prune(
        _ pruning: Pruning, key: AuditKey
    ) throws(StoreFailure) -> PruningOutcome {
        let due = StatementArguments(pruning.now, pruning.limit)
        let dueChallenges = StatementArguments(pruning.challengesAt, pruning.limit)
        let oldest = StatementArguments(0, pruning.limit)
        let commands: [PipelineCommand] = [
            .text("BEGIN ISOLATION LEVEL READ COMMITTED"),
            .text("UPDATE settings SET value = value WHERE name = 'pruning'"),
            .run(.pruneCredentials, due), .run(.pruneTickets, due),
            .run(.pruneChallenges, dueChallenges),
            .run(.pruneAnswers, due),
        ]
        // The chain records are read last, so that they cover every event that is read.
        let events: [PipelineCommand] =
            pruning.eventsBefore == nil ? [] : [.run(.events, oldest), .run(.chains)]
        let results = try run(commands + events)
        let old = try oldEvents(results.dropFirst(commands.count), pruning, key: key)
        _ = try run(replacing(old) + [.text("COMMIT")])
        var outcome = PruningOutcome()
        outcome.credentials = results[2].changed
        outcome.tickets = results[3].changed
        outcome.challenges = results[4].changed
        outcome.answers = results[5].changed
        outcome.events = old.count
        outcome.areEventsAltered = old.areAltered
        return outcome
    }

    private func oldEvents(
        _ results: ArraySlice<PostgreSQLResult>, _ pruning: Pruning, key: AuditKey
    ) throws(StoreFailure) -> ExpiredEvents {
        let first = try results.first?.all { row throws(StoreFailure) in try row.event() }
        let chains = try results.last?.all { row throws(StoreFailure) in try row.chain() }
        return ExpiredEvents(first ?? [], chains: chains ?? [], pruning: pruning, key: key)
    }

    /// Deletes the events, and moves each chain's start to its last deleted event.
    private func replacing(_ old: ExpiredEvents) -> [PipelineCommand] {
        guard let end = old.end else { return [] }
        // Chains are always locked in the same order.
        return [.run(.pruneEvents, StatementArguments(end))]
            + old.starts.map { .run(.updateStart, StatementArguments($0.arguments)) }
    }
}
