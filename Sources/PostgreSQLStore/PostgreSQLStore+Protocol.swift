public import Verification

extension PostgreSQLStore: VerificationStore {
    /// The row with this id.
    public func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow? {
        try await read(.credentialByID, bytes: id.bytes) { result throws(PostgreSQLFailure) in
            try result.first(Self.credential)
        }
    }

    /// A subject's rows, the oldest first.
    public func credentials(
        of subject: Subject, includingRevoked: Bool, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        guard includingRevoked else {
            return try await read(.alive(subject: subject.utf8, limit: Int64(limit))) {
                result throws(PostgreSQLFailure) in try result.all(Self.credential)
            }
        }
        var arguments = StatementArguments()
        arguments.add(subject.utf8)
        arguments.add(Int64(limit))
        return try await read(.credentialsAll, arguments) { result throws(PostgreSQLFailure) in
            try result.all(Self.credential)
        }
    }

    /// The row with this fingerprint.
    public func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow? {
        try await read(.credentialByFingerprint, bytes: fingerprint) {
            result throws(PostgreSQLFailure) in try result.first(Self.credential)
        }
    }

    /// The rows that hang on a key, by id from behind `after` on; of all keys when it is nil.
    public func credentials(
        under key: KeyID?, after: CredentialID?, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        var arguments = StatementArguments()
        if let key { arguments.add(Int64(key.number)) }
        arguments.add(after?.bytes ?? [])
        arguments.add(Int64(limit))
        return try await read(key == nil ? .credentialsByID : .credentialsUnderKey, arguments) {
            result throws(PostgreSQLFailure) in try result.all(Self.credential)
        }
    }

    /// How many rows and answers hang on each key.
    public func keyUsage() async throws(StoreFailure) -> [KeyUsage] {
        var credentials: [KeyID: [CredentialKind: Int]] = [:]
        let counts = try await read(.credentialUsage, .none) { result throws(PostgreSQLFailure) in
            try result.all { row throws(PostgreSQLFailure) in
                (
                    try row.value(row.keyID()),
                    try row.value(CredentialKind(rawValue: row.requiredText())),
                    Int(try row.requiredInteger())
                )
            }
        }
        for (key, kind, count) in counts { credentials[key, default: [:]][kind] = count }
        let kept = try await read(.answerUsage, .none) { result throws(PostgreSQLFailure) in
            try result.all { row throws(PostgreSQLFailure) in
                (try row.value(row.keyID()), Int(try row.requiredInteger()))
            }
        }
        let answers = Dictionary(uniqueKeysWithValues: kept)
        return Set(credentials.keys).union(answers.keys).sorted().map { key in
            KeyUsage(keyID: key, credentials: credentials[key] ?? [:], answers: answers[key] ?? 0)
        }
    }

    /// The ticket with this digest, also when it has expired.
    public func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow? {
        try await read(.ticket, bytes: digest) { result throws(PostgreSQLFailure) in
            try result.first { row throws(PostgreSQLFailure) in try row.ticket() }
        }
    }

    /// The answer kept under this key, also when it has expired.
    public func answer(key: [UInt8]) async throws(StoreFailure) -> AnswerRow? {
        try await read(.answer, bytes: key) { result throws(PostgreSQLFailure) in
            try result.first { row throws(PostgreSQLFailure) in try row.answer() }
        }
    }

    /// The client with this digest, also when it is revoked.
    public func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow? {
        try await read(.clientByDigest, bytes: digest) { result throws(PostgreSQLFailure) in
            try result.first { row throws(PostgreSQLFailure) in try row.client() }
        }
    }

    /// All clients, the oldest first.
    public func clients() async throws(StoreFailure) -> [ClientRow] {
        try await read(.clients, .none) { result throws(PostgreSQLFailure) in
            try result.all { row throws(PostgreSQLFailure) in try row.client() }
        }
    }

    /// Events in the order of their positions, from behind `position` on.
    public func events(
        after position: UInt64, limit: Int
    ) async throws(StoreFailure) -> [ChainedEvent] {
        var arguments = StatementArguments()
        arguments.add(Int64(clamping: position))
        arguments.add(Int64(limit))
        return try await read(.events, arguments) { result throws(PostgreSQLFailure) in
            try result.all { row throws(PostgreSQLFailure) in try row.event() }
        }
    }

    /// Where each chain begins and ends, the oldest first.
    public func chains() async throws(StoreFailure) -> [ChainRecord] {
        try await read(.chains, .none) { result throws(PostgreSQLFailure) in
            try result.all { row throws(PostgreSQLFailure) in try row.chain() }
        }
    }

    /// Does all of `changes`, in their order, or none; durable when it returns.
    public func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        try await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<CommitOutcome, StoreFailure>, Never>) in
            writers.submit(CommitJob(changes) { continuation.resume(returning: $0) })
        }.get()
    }

    private func read<Found: Sendable>(
        _ statement: StoreStatement, bytes: [UInt8],
        _ take: @escaping @Sendable (PostgreSQLRows) throws(PostgreSQLFailure) -> Found
    ) async throws(StoreFailure) -> Found {
        var arguments = StatementArguments()
        arguments.add(bytes)
        return try await read(statement, arguments, take)
    }

    private func read<Found: Sendable>(
        _ statement: StoreStatement, _ arguments: StatementArguments,
        _ take: @escaping @Sendable (PostgreSQLRows) throws(PostgreSQLFailure) -> Found
    ) async throws(StoreFailure) -> Found {
        try await read(.alone(statement, arguments), take)
    }

    private func read<Found: Sendable>(
        _ question: ReadJob.Question,
        _ take: @escaping @Sendable (PostgreSQLRows) throws(PostgreSQLFailure) -> Found
    ) async throws(StoreFailure) -> Found {
        let found = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Found, PostgreSQLFailure>, Never>) in
            readers.submit(
                ReadJob(question: question) { answer in
                    continuation.resume(
                        returning: Result { () throws(PostgreSQLFailure) in
                            try take(answer.get())
                        })
                })
        }
        do { return try found.get() } catch { throw StoreFailure(error) }
    }

    private static func credential(
        _ row: inout PostgreSQLRow
    ) throws(PostgreSQLFailure) -> CredentialRow { try row.credential() }
}
