internal import SQLStore
public import Verification
internal import WatchwordCryptography

// Reads run on the caller's thread, without a queue; see ReaderPool.
extension SQLiteVerificationStore: VerificationStore {
    /// The row with this id.
    public func credential(_ id: CredentialID) throws(StoreFailure) -> CredentialRow? {
        try read { session throws(StoreFailure) in try credential(.id(id), session) }
    }

    /// The rows that a query selects.
    public func credentials(
        _ query: CredentialQuery, limit: Int
    ) throws(StoreFailure) -> [CredentialRow] {
        try read { session throws(StoreFailure) in
            let (statement, arguments) = query.statement(limit: limit)
            let rows: [CredentialRow] = try session.all(statement, arguments, row)
            // A subject without credentials also costs one row check, so that timing does not
            // reveal which subjects exist (V-06).
            if rows.isEmpty, case .alive = query { try readAnyRow(session) }
            return rows
        }
    }

    /// Reads a random row.
    ///
    /// If this row is damaged, only its own subject is affected.
    private func readAnyRow(_ session: SQLiteSession) throws(StoreFailure) {
        do throws(StoreFailure) {
            let page = try session[.credentialsByID].bind(CredentialID.anywhere()).bind(1)
            let _: [CredentialRow] = try page.all(row)
        } catch  where error.kind == .damaged {}
    }

    /// The row with this fingerprint.
    public func credential(fingerprint: [UInt8]) throws(StoreFailure) -> CredentialRow? {
        try read { session throws(StoreFailure) in
            try credential(.fingerprint(fingerprint), session)
        }
    }

    /// The number of rows and recorded responses that use each key version.
    public func keyUsage() throws(StoreFailure) -> [KeyUsage] {
        try read { session throws(StoreFailure) in
            KeyUsage.totals(
                try session[.credentialUsage]
                    .all { row throws(StoreFailure) in try row.credentialUsage() }
                    + session[.answerUsage]
                    .all { row throws(StoreFailure) in try row.answerUsage() })
        }
    }

    /// The ticket with this digest, even if it has expired.
    public func ticket(digest: [UInt8]) throws(StoreFailure) -> TicketRow? {
        try read { session throws(StoreFailure) in try session[.ticket].bind(digest).first(row) }
    }

    /// The challenge with this digest, even if it has expired.
    public func challenge(digest: [UInt8]) throws(StoreFailure) -> ChallengeRow? {
        try read { session throws(StoreFailure) in
            try session[.challenge].bind(digest).first(row)
        }
    }

    /// The challenge with this digest, even if it has expired, and the credential that answers the
    /// challenge.
    public func challenge(
        digest: [UInt8], answeredBy name: AnsweringCredential
    ) throws(StoreFailure) -> (challenge: ChallengeRow?, credential: CredentialRow?) {
        try read { session throws(StoreFailure) in
            // The second statement is in the same transaction, because the first statement still
            // has a row.
            var answering: CredentialRow??
            let challenge: ChallengeRow? = try session[.challenge].bind(digest).first {
                challenge throws(StoreFailure) in
                answering = .some(try credential(name, session))
                return try row(&challenge)
            }
            if let answering { return (challenge, answering) }
            return (challenge, try credential(name, session))
        }
    }

    private func credential(
        _ name: AnsweringCredential, _ session: SQLiteSession
    ) throws(StoreFailure) -> CredentialRow? {
        switch name {
        case .id(let id):
            let found = try session[.credentialByID].bind(id).first { row throws(StoreFailure) in
                try row.credential(id, key)
            }
            guard let found else { return checkedOrDummy(nil) }
            return found
        case .fingerprint(let bytes):
            return try checkedOrDummy(session[.credentialByFingerprint].bind(bytes).first(row))
        }
    }

    /// The row of the response recorded under this key, even if the response has been deleted or
    /// has expired.
    public func answer(key name: [UInt8]) throws(StoreFailure) -> AnswerRow? {
        try read { session throws(StoreFailure) in try session[.answer].bind(name).first(row) }
    }

    /// The client with this digest, even if it is revoked.
    public func client(digest: [UInt8]) throws(StoreFailure) -> ClientRow? {
        try read { session throws(StoreFailure) in
            try session[.clientByDigest].bind(digest).first(row)
        }
    }

    /// All clients, including revoked ones, oldest first.
    public func clients() throws(StoreFailure) -> [ClientRow] {
        try read { session throws(StoreFailure) in try session[.clients].all(row) }
    }

    /// The events after `position`, ordered by position.
    public func events(
        after position: UInt64, limit: Int
    ) throws(StoreFailure) -> [ChainedEvent] {
        try read { session throws(StoreFailure) in
            try session.events(after: position, limit: limit)
        }
    }

    /// Where each chain begins and ends, oldest first; new events go into the last chain.
    public func chains() throws(StoreFailure) -> [ChainRecord] {
        try read { session throws(StoreFailure) in try session.chains() }
    }

    /// Applies all of `changes`, in order, or none; they are durable when the call returns.
    public func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        let authenticated = key.authenticating(changes)
        return try await committer.commit(authenticated)
    }

    /// Deletes expired rows and old events in one short transaction on the writer.
    public func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        try await committer.perform { writer throws(StoreFailure) in
            try writer.transaction { () throws(StoreFailure) in try writer.prune(pruning) }
        }
    }

    func read<Found>(
        _ body: (SQLiteSession) throws(StoreFailure) -> Found
    ) throws(StoreFailure) -> Found {
        if let found = try committer.readHere(body) { return found }
        return try readers.read(body)
    }

    /// Decodes a row, and checks that it is authentic.
    private func row<Row: ColumnRow>(_ row: inout RowReader) throws(StoreFailure) -> Row {
        try row.row(key)
    }

    /// Returns the row.
    ///
    /// If there is none, does the work of checking a row (V-06).
    private func checkedOrDummy(_ row: CredentialRow?) -> CredentialRow? {
        if row == nil {
            key.checkDummy()
        }
        return row
    }
}
