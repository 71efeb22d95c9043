internal import WatchwordCryptography

/// Reads one row of a query's result, column by column from left to right.
///
/// Only this program writes to its databases, so a row that does not decode or is not authentic is
/// damaged.
package protocol RowReader {
    /// Why a row cannot be read.
    associatedtype Failure: RowFailure

    /// The next column: an integer or NULL.
    mutating func integer() throws(Failure) -> Int64?
    /// The next column: bytes or NULL; text is returned as UTF-8.
    mutating func bytes() throws(Failure) -> [UInt8]?
}

/// Why rows cannot be read.
package protocol RowFailure: Error, Equatable {
    /// A row that this program cannot have written.
    static var invalidRow: Self { get }
    /// The chain's stored end is not the one that was written.
    static var chain: Self { get }
}

/// The columns that ``RowReader`` reads, in the same order.
package enum RowColumns {
    package static let credential =
        "id, subject, kind, state, version, key_id, fingerprint, created_at, lapses_at, body, "
        + "authentication"
    package static let ticket =
        "digest, purpose, credential, subject, verification, created_at, expires_at, "
        + "authentication"
    package static let challenge =
        "digest, purpose, subject, credential, body, created_at, expires_at, authentication"
    package static let answer =
        "key, request, credential, key_id, sealed_answer, expires_at, authentication"
    package static let client =
        "id, version, digest, name, scopes, created_at, revoked_at, authentication"
    package static let chain =
        "node, start_sequence, start_digest, start_position, start_behind, "
        + "pruned_before, pruned_at, start_authentication, "
        + "head_sequence, head_digest, head_authentication, head_position"
}

// Whole rows.
extension RowReader {
    /// - Parameter key: `nil` to skip the authenticity check; nothing may be accepted based on such
    ///   a row.
    package mutating func credential(_ key: AuditKey?) throws(Failure) -> CredentialRow {
        try authentic(
            CredentialRow(
                id: try value(CredentialID(bytes: requiredBytes())),
                subject: try value(Subject(utf8: requiredBytes())),
                kind: try value(CredentialKind(rawValue: requiredText())),
                state: try value(CredentialState(rawValue: requiredText())),
                version: try unsigned(), keyID: try keyID(), fingerprint: try bytes(),
                createdAt: try time(), lapsesAt: try integer().map(UnixTime.init(milliseconds:)),
                body: try requiredBytes()),
            key)
    }

    /// Reads the row that was found when `id` was looked up: its own, or else the next one.
    ///
    /// The next one costs the same, so that the response time does not reveal whether `id` exists
    /// (V-06). Its damage does not matter.
    package mutating func credential(
        _ id: CredentialID, _ key: AuditKey
    ) throws(Failure) -> CredentialRow? {
        var start = self
        guard try start.bytes() != id.bytes else { return try credential(key) }
        do throws(Failure) { _ = try credential(key) } catch  where error == .invalidRow {}
        return nil
    }

    package mutating func ticket(_ key: AuditKey) throws(Failure) -> TicketRow {
        try authentic(
            TicketRow(
                digest: try requiredBytes(),
                purpose: try value(TicketRow.Purpose(rawValue: requiredText())),
                credential: try value(CredentialID(bytes: requiredBytes())),
                subject: try value(Subject(utf8: requiredBytes())),
                verification: try value(VerificationID(bytes: requiredBytes())),
                createdAt: try time(), expiresAt: try time()),
            key)
    }

    package mutating func challenge(_ key: AuditKey) throws(Failure) -> ChallengeRow {
        try authentic(
            ChallengeRow(
                digest: try requiredBytes(),
                purpose: try value(ChallengeRow.Purpose(rawValue: requiredText())),
                subject: try bytes().map { name throws(Failure) in try value(Subject(utf8: name)) },
                credential: try credentialID(), body: try requiredBytes(), createdAt: try time(),
                expiresAt: try time()),
            key)
    }

    package mutating func answer(_ authenticator: AuditKey) throws(Failure) -> AnswerRow {
        let (key, request) = (try requiredBytes(), try requiredBytes())
        let credential = try credentialID()
        let sealed: AnswerRow.Sealed?
        switch (try keyID(), try bytes()) {
        case (let keyID?, let bytes?): sealed = AnswerRow.Sealed(bytes, under: keyID)
        case (nil, nil): sealed = nil
        default: throw .invalidRow
        }
        return try authentic(
            AnswerRow(
                key: key, request: request, credential: credential, sealed: sealed,
                expiresAt: try time()),
            authenticator)
    }

    package mutating func client(_ key: AuditKey) throws(Failure) -> ClientRow {
        try authentic(
            ClientRow(
                id: try requiredBytes(), version: try unsigned(), digest: try requiredBytes(),
                name: try requiredText(), scopes: try value(TextList.read(requiredBytes())),
                createdAt: try time(), revokedAt: try integer().map(UnixTime.init(milliseconds:))),
            key)
    }

    /// Returns the row if the next column is its authentication code.
    package mutating func authentic<Row: StoredRow>(
        _ row: Row, _ key: AuditKey?
    ) throws(Failure) -> Row {
        let code = try requiredBytes()
        guard let key else { return row }
        let isAuthentic = key.isAuthentic(row, by: code)
        guard isAuthentic else { throw .invalidRow }
        return row
    }

    /// The row for an audit; a damaged row is represented by its first column.
    package func audited<Row: StoredRow>(
        _ read: (inout Self) throws(Failure) -> Row
    ) throws(Failure) -> AuditedRow<Row> {
        var (row, damaged) = (self, self)
        do throws(Failure) { return .whole(try read(&row)) } catch {
            guard error == .invalidRow else { throw error }
            return .damaged(key: try damaged.requiredBytes())
        }
    }

    package mutating func event() throws(Failure) -> ChainedEvent {
        ChainedEvent(
            position: try unsigned(), node: try requiredBytes(), sequence: try unsigned(),
            behind: try unsigned(), body: try requiredBytes(), digest: try requiredBytes(),
            time: try time())
    }

    package mutating func chain() throws(Failure) -> ChainRecord {
        let node = try requiredBytes()
        return ChainRecord(
            start: try start(of: node), head: try mark(of: node), headPosition: try unsigned())
    }

    private mutating func start(of node: [UInt8]) throws(Failure) -> ChainStart {
        let (sequence, digest) = (try unsigned(), try requiredBytes())
        let (position, behind) = (try unsigned(), try unsigned())
        let (before, at) = (try integer(), try integer())
        return ChainStart(
            node: node, sequence: sequence, digest: digest, position: position, behind: behind,
            pruning: PrunedEvents(before: before, at: at), authentication: try requiredBytes())
    }

    package mutating func mark(of node: [UInt8]) throws(Failure) -> ChainCheckpoint {
        ChainCheckpoint(
            node: node, sequence: try unsigned(), digest: try requiredBytes(),
            authentication: try requiredBytes())
    }

    /// How many credentials of a kind use a key version.
    package mutating func credentialUsage() throws(Failure) -> KeyUsage {
        let keyID = try value(keyID())
        let kind = try value(CredentialKind(rawValue: requiredText()))
        return KeyUsage(keyID: keyID, credentials: [kind: try count()], answers: 0)
    }

    /// How many recorded responses use a key version.
    package mutating func answerUsage() throws(Failure) -> KeyUsage {
        KeyUsage(keyID: try value(keyID()), credentials: [:], answers: try count())
    }
}

// Single columns.
extension RowReader {
    /// The next column, which must be an integer.
    package mutating func requiredInteger() throws(Failure) -> Int64 { try value(integer()) }

    /// The next column, which must be bytes.
    package mutating func requiredBytes() throws(Failure) -> [UInt8] { try value(bytes()) }

    /// The next column, which must be valid UTF-8 text.
    package mutating func requiredText() throws(Failure) -> String {
        try value(String(validating: requiredBytes(), as: UTF8.self))
    }

    package mutating func unsigned() throws(Failure) -> UInt64 {
        try value(UInt64(exactly: requiredInteger()))
    }

    package mutating func keyID() throws(Failure) -> KeyID? {
        guard let number = try integer() else { return nil }
        return try value(UInt32(exactly: number).flatMap { KeyID($0) })
    }

    private mutating func credentialID() throws(Failure) -> CredentialID? {
        try bytes().map { id throws(Failure) in try value(CredentialID(bytes: id)) }
    }

    private mutating func time() throws(Failure) -> UnixTime {
        UnixTime(milliseconds: try requiredInteger())
    }

    private mutating func count() throws(Failure) -> Int {
        try value(Int(exactly: requiredInteger()))
    }

    package func value<Value>(_ read: Value?) throws(Failure) -> Value {
        guard let read else { throw .invalidRow }
        return read
    }
}
