public import Verification
internal import WatchwordCryptography

extension PostgreSQLVerificationStore: VerificationStore {
    /// The row with this id.
    public func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow? {
        try await read(.credentialByID, bytes: id.bytes) {
            [key] result throws(PostgreSQLFailure) in try result.credential(id, key)
        }
    }

    /// A subject's rows that are not revoked, oldest first, or its revoked rows, newest first.
    public func credentials(
        of subject: Subject, revokedBefore time: UnixTime?, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        guard let time else {
            return try await read(.alive(subject: subject.utf8, limit: Int64(limit))) {
                [key] result throws(PostgreSQLFailure) in try result.credentials(key)
            }
        }
        var arguments = StatementArguments()
        arguments.add(subject.utf8)
        arguments.add(Int64(limit))
        arguments.add(time.milliseconds)
        return try await read(.credentialsRevoked, arguments) {
            [key] result throws(PostgreSQLFailure) in try result.credentials(key)
        }
    }

    /// The row with this fingerprint.
    public func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow? {
        try await read(.credentialByFingerprint, bytes: fingerprint) {
            [key] result throws(PostgreSQLFailure) in try result.credentials(key).first
        }
    }

    /// The rows that use a key version, ordered by id and starting after `after`; a version of
    /// `nil` means all versions.
    public func credentials(
        under version: KeyID?, after: CredentialID?, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        var arguments = StatementArguments()
        if let version { arguments.add(Int64(version.number)) }
        arguments.add(after.map { StoreWalk.following($0.bytes) } ?? [])
        arguments.add(Int64(limit))
        return try await read(version == nil ? .credentialsByID : .credentialsUnderKey, arguments) {
            [key] result throws(PostgreSQLFailure) in try result.credentials(key)
        }
    }

    /// The number of rows and recorded responses that use each key version.
    public func keyUsage() async throws(StoreFailure) -> [KeyUsage] {
        let credentials = try await read(.credentialUsage, .none) {
            result throws(PostgreSQLFailure) in
            try result.all { row throws(PostgreSQLFailure) in try row.credentialUsage() }
        }
        let answers = try await read(.answerUsage, .none) { result throws(PostgreSQLFailure) in
            try result.all { row throws(PostgreSQLFailure) in try row.answerUsage() }
        }
        return KeyUsage.totals(credentials + answers)
    }

    /// The ticket with this digest, even if it has expired.
    public func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow? {
        try await read(.ticket, bytes: digest) {
            [key] result throws(PostgreSQLFailure) in
            try result.first { row throws(PostgreSQLFailure) in try row.ticket(key) }
        }
    }

    /// The challenge with this digest, even if it has expired.
    public func challenge(digest: [UInt8]) async throws(StoreFailure) -> ChallengeRow? {
        try await read(.challenge, bytes: digest) {
            [key] result throws(PostgreSQLFailure) in
            try result.first { row throws(PostgreSQLFailure) in try row.challenge(key) }
        }
    }

    /// The challenge with this digest, even if it has expired, and the credential that answers it.
    public func challenge(
        digest: [UInt8], answeredBy name: AnsweringCredential
    ) async throws(StoreFailure) -> (challenge: ChallengeRow?, credential: CredentialRow?) {
        // Both reads are sent together.
        async let challenge = answer(.challenge, bytes: digest) {
            [key] result throws(PostgreSQLFailure) in
            try result.first { row throws(PostgreSQLFailure) in try row.challenge(key) }
        }
        let credential: Result<CredentialRow?, PostgreSQLFailure> =
            switch name {
            case .id(let id):
                await answer(.credentialByID, bytes: id.bytes) {
                    [key] result throws(PostgreSQLFailure) in try result.credential(id, key)
                }
            case .fingerprint(let bytes):
                await answer(.credentialByFingerprint, bytes: bytes) {
                    [key] result throws(PostgreSQLFailure) in try result.credentials(key).first
                }
            }
        do { return (try await challenge.get(), try credential.get()) } catch {
            throw StoreFailure(error)
        }
    }

    /// The row of the response recorded under this key, even if the response has been deleted or
    /// has expired.
    public func answer(key name: [UInt8]) async throws(StoreFailure) -> AnswerRow? {
        try await read(.answer, bytes: name) {
            [key] result throws(PostgreSQLFailure) in
            try result.first { row throws(PostgreSQLFailure) in try row.answer(key) }
        }
    }

    /// The client with this digest, even if it is revoked.
    public func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow? {
        try await read(.clientByDigest, bytes: digest) {
            [key] result throws(PostgreSQLFailure) in
            try result.first { row throws(PostgreSQLFailure) in try row.client(key) }
        }
    }

    /// All clients, oldest first.
    public func clients() async throws(StoreFailure) -> [ClientRow] {
        try await read(.clients, .none) {
            [key] result throws(PostgreSQLFailure) in
            try result.all { row throws(PostgreSQLFailure) in try row.client(key) }
        }
    }

    /// The events after `position`, ordered by position.
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

    /// Where each chain begins and ends, oldest first.
    public func chains() async throws(StoreFailure) -> [ChainRecord] {
        try await read(.chains, .none) { result throws(PostgreSQLFailure) in
            try result.all { row throws(PostgreSQLFailure) in try row.chain() }
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

    private func read<Found: Sendable>(
        _ statement: StoreStatement, bytes: [UInt8],
        _ take: @escaping @Sendable (PostgreSQLRows) throws(PostgreSQLFailure) -> Found
    ) async throws(StoreFailure) -> Found {
        do { return try await answer(statement, bytes: bytes, take).get() } catch {
            throw StoreFailure(error)
        }
    }

    private func answer<Found: Sendable>(
        _ statement: StoreStatement, bytes: [UInt8],
        _ take: @escaping @Sendable (PostgreSQLRows) throws(PostgreSQLFailure) -> Found
    ) async -> Result<Found, PostgreSQLFailure> {
        var arguments = StatementArguments()
        arguments.add(bytes)
        return await answer(.alone(statement, arguments), take)
    }

    private func read<Found: Sendable>(
        _ statement: StoreStatement, _ arguments: StatementArguments,
        _ take: @escaping @Sendable (PostgreSQLRows) throws(PostgreSQLFailure) -> Found
    ) async throws(StoreFailure) -> Found {
        try await read(.alone(statement, arguments), take)
    }

    private func read<Found: Sendable>(
        _ question: ReadJob.Query,
        _ take: @escaping @Sendable (PostgreSQLRows) throws(PostgreSQLFailure) -> Found
    ) async throws(StoreFailure) -> Found {
        do { return try await answer(question, take).get() } catch { throw StoreFailure(error) }
    }

    private func answer<Found: Sendable>(
        _ question: ReadJob.Query,
        _ take: @escaping @Sendable (PostgreSQLRows) throws(PostgreSQLFailure) -> Found
    ) async -> Result<Found, PostgreSQLFailure> {
        await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Found, PostgreSQLFailure>, Never>) in
            readers.submit(
                ReadJob(question: question) { answer in
                    continuation.resume(
                        returning: Result { () throws(PostgreSQLFailure) in
                            try take(answer.get())
                        })
                })
        }
    }
}

extension PostgreSQLRows {
    /// The row with this id, which ``StoreStatement/credentialByID`` looked up.
    fileprivate func credential(
        _ id: CredentialID, _ key: AuditKey
    ) throws(PostgreSQLFailure) -> CredentialRow? {
        let found = try first { row throws(PostgreSQLFailure) in try row.credential(id, key) }
        guard let found else {
            key.checkDummy()
            return nil
        }
        return found
    }

    /// Every row, as a credential.
    ///
    /// If there are no rows, the check takes as long as for one row (V-06).
    fileprivate func credentials(_ key: AuditKey) throws(PostgreSQLFailure) -> [CredentialRow] {
        let rows = try all { row throws(PostgreSQLFailure) in try row.credential(key) }
        if rows.isEmpty {
            key.checkDummy()
        }
        return rows
    }
}
