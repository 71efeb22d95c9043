internal import Cryptography
public import Verification

// A read is done at once, on the caller's thread; see ReaderPool.
extension SQLiteStore: VerificationStore {
    /// The row with this id.
    public func credential(_ id: CredentialID) throws(StoreFailure) -> CredentialRow? {
        try read { session throws(SQLiteFailure) in
            try checkedAnyway(session[.credentialByID].bind(id.bytes).first(credential))
        }
    }

    /// A subject's rows, the oldest first.
    public func credentials(
        of subject: Subject, includingRevoked: Bool, limit: Int
    ) throws(StoreFailure) -> [CredentialRow] {
        try read { session throws(SQLiteFailure) in
            let rows = try session[includingRevoked ? .credentialsAll : .credentialsAlive]
                .bind(subject.utf8).bind(Int64(limit)).all(credential)
            // Who has none costs a row, too: the time does not tell who is known (V-06).
            if rows.isEmpty {
                _ = try session[.credentialsByID].bind(CredentialID.anywhere().bytes).bind(Int64(1))
                    .all(credential)
            }
            return rows
        }
    }

    /// The row with this fingerprint.
    public func credential(fingerprint: [UInt8]) throws(StoreFailure) -> CredentialRow? {
        try read { session throws(SQLiteFailure) in
            try session[.credentialByFingerprint].bind(fingerprint).first(credential)
        }
    }

    /// The rows that hang on a key, by id from behind `after` on; of all keys when it is nil.
    public func credentials(
        under version: KeyID?, after: CredentialID?, limit: Int
    ) throws(StoreFailure) -> [CredentialRow] {
        try read { session throws(SQLiteFailure) in
            let start = after.map { StoreWalk.following($0.bytes) } ?? []
            let statement =
                if let version {
                    try session[.credentialsUnderKey].bind(version).bind(start)
                } else {
                    try session[.credentialsByID].bind(start)
                }
            return try statement.bind(Int64(limit)).all(credential)
        }
    }

    /// How many rows and answers hang on each key.
    public func keyUsage() throws(StoreFailure) -> [KeyUsage] {
        var credentials: [KeyID: [CredentialKind: Int]] = [:]
        var answers: [KeyID: Int] = [:]
        try read { session throws(SQLiteFailure) in
            let counts = try session[.credentialUsage].all { row throws(SQLiteFailure) in
                (
                    try row.value(row.keyID()),
                    try row.value(CredentialKind(rawValue: row.requiredText())),
                    try row.requiredInteger()
                )
            }
            for (key, kind, count) in counts { credentials[key, default: [:]][kind] = Int(count) }
            let kept = try session[.answerUsage].all { row throws(SQLiteFailure) in
                (try row.value(row.keyID()), try row.requiredInteger())
            }
            for (key, count) in kept { answers[key] = Int(count) }
        }
        return Set(credentials.keys).union(answers.keys).sorted().map { key in
            KeyUsage(keyID: key, credentials: credentials[key] ?? [:], answers: answers[key] ?? 0)
        }
    }

    /// The ticket with this digest, also when it has expired.
    public func ticket(digest: [UInt8]) throws(StoreFailure) -> TicketRow? {
        try read { session throws(SQLiteFailure) in
            try session[.ticket].bind(digest).first { row throws(SQLiteFailure) in
                try row.ticket(key)
            }
        }
    }

    /// The answer kept under this key, also when it has expired.
    public func answer(key name: [UInt8]) throws(StoreFailure) -> AnswerRow? {
        try read { session throws(SQLiteFailure) in
            try session[.answer].bind(name).first { row throws(SQLiteFailure) in
                try row.answer(key)
            }
        }
    }

    /// The client with this digest, also when it is revoked.
    public func client(digest: [UInt8]) throws(StoreFailure) -> ClientRow? {
        try read { session throws(SQLiteFailure) in
            try session[.clientByDigest].bind(digest).first { row throws(SQLiteFailure) in
                try row.client(key)
            }
        }
    }

    /// All clients, the oldest first.
    public func clients() throws(StoreFailure) -> [ClientRow] {
        try read { session throws(SQLiteFailure) in
            try session[.clients].all { row throws(SQLiteFailure) in try row.client(key) }
        }
    }

    /// Events in the order of their positions, from behind `position` on.
    public func events(
        after position: UInt64, limit: Int
    ) throws(StoreFailure) -> [ChainedEvent] {
        try read { session throws(SQLiteFailure) in
            try session.events(after: position, limit: limit)
        }
    }

    /// Where each chain begins and ends, the oldest first; the last one is appended to.
    public func chains() throws(StoreFailure) -> [ChainRecord] {
        try read { session throws(SQLiteFailure) in try session.chains() }
    }

    /// Does all of `changes`, in their order, or none; durable when it returns.
    public func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        let authenticated: [AuthenticatedChange]
        do throws(CryptographyFailure) { authenticated = try key.authenticating(changes) } catch {
            throw MemberFailure.cryptography.storeFailure
        }
        return try await committer.commit(authenticated)
    }

    private func read<Found>(
        _ body: (SQLiteSession) throws(SQLiteFailure) -> Found
    ) throws(StoreFailure) -> Found {
        do throws(SQLiteFailure) {
            if let found = try committer.readHere(body) { return found }
            return try readers.read(body)
        } catch {
            throw StoreFailure(error)
        }
    }

    private func credential(_ row: SQLiteStatement) throws(SQLiteFailure) -> CredentialRow {
        try row.credential(key)
    }

    /// The row; where there is none, it costs what checking one does (V-06).
    private func checkedAnyway(_ row: CredentialRow?) throws(SQLiteFailure) -> CredentialRow? {
        if row == nil {
            do throws(CryptographyFailure) { try key.checkNothing() } catch { throw .cryptography }
        }
        return row
    }
}

extension SQLiteSession {
    func events(after position: UInt64, limit: Int) throws(SQLiteFailure) -> [ChainedEvent] {
        try self[.events].bind(position).bind(Int64(limit)).all { row throws(SQLiteFailure) in
            try row.event()
        }
    }

    func chains() throws(SQLiteFailure) -> [ChainRecord] {
        try self[.chains].all { row throws(SQLiteFailure) in try row.chain() }
    }
}
