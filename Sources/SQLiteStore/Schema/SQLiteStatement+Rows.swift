internal import Cryptography
internal import Verification

// Decodes rows from their columns, in the order in which StoreStatement names them. Only this
// program writes here, so a row that does not decode or is not authentic is damaged.
extension SQLiteStatement {
    /// - Parameter key: `nil` to skip the authenticity check; nothing may be accepted based on such
    ///   a row.
    func credential(_ key: AuditKey?) throws(SQLiteFailure) -> CredentialRow {
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

    func ticket(_ key: AuditKey) throws(SQLiteFailure) -> TicketRow {
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

    func answer(_ authenticator: AuditKey) throws(SQLiteFailure) -> AnswerRow {
        let (key, request) = (try requiredBytes(), try requiredBytes())
        let credential = try bytes().map { id throws(SQLiteFailure) in
            try value(CredentialID(bytes: id))
        }
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

    func client(_ key: AuditKey) throws(SQLiteFailure) -> ClientRow {
        try authentic(
            ClientRow(
                id: try requiredBytes(), version: try unsigned(), digest: try requiredBytes(),
                name: try requiredText(), scopes: try value(TextList.read(requiredBytes())),
                createdAt: try time(), revokedAt: try integer().map(UnixTime.init(milliseconds:))),
            key)
    }

    /// Returns the row if the next column is its authentication code.
    func authentic<Row: StoredRow>(
        _ row: Row, _ key: AuditKey?
    ) throws(SQLiteFailure) -> Row {
        let code = try requiredBytes()
        guard let key else { return row }
        let isAuthentic: Bool
        do throws(CryptographyFailure) {
            isAuthentic = try key.isAuthentic(row, by: code)
        } catch { throw .cryptography }
        guard isAuthentic else { throw .invalidRow }
        return row
    }

    func event() throws(SQLiteFailure) -> ChainedEvent {
        ChainedEvent(
            position: try unsigned(), node: try requiredBytes(), sequence: try unsigned(),
            behind: try unsigned(), body: try requiredBytes(), digest: try requiredBytes(),
            time: try time())
    }

    func chain() throws(SQLiteFailure) -> ChainRecord {
        let node = try requiredBytes()
        return ChainRecord(
            start: try start(of: node), head: try mark(of: node), headPosition: try unsigned())
    }

    private func start(of node: [UInt8]) throws(SQLiteFailure) -> ChainStart {
        let (sequence, digest) = (try unsigned(), try requiredBytes())
        let (position, behind) = (try unsigned(), try unsigned())
        let (before, at) = (try integer(), try integer())
        return ChainStart(
            node: node, sequence: sequence, digest: digest, position: position, behind: behind,
            pruning: PrunedEvents(before: before, at: at), authentication: try requiredBytes())
    }

    func mark(of node: [UInt8]) throws(SQLiteFailure) -> ChainCheckpoint {
        ChainCheckpoint(
            node: node, sequence: try unsigned(), digest: try requiredBytes(),
            authentication: try requiredBytes())
    }

    func unsigned() throws(SQLiteFailure) -> UInt64 {
        try value(UInt64(exactly: requiredInteger()))
    }

    func keyID() throws(SQLiteFailure) -> KeyID? {
        guard let number = try integer() else { return nil }
        return try value(UInt32(exactly: number).flatMap { KeyID($0) })
    }

    func time() throws(SQLiteFailure) -> UnixTime {
        UnixTime(milliseconds: try requiredInteger())
    }

    func value<Value>(_ read: Value?) throws(SQLiteFailure) -> Value {
        guard let read else { throw .invalidRow }
        return read
    }
}

// Encodes rows into their columns.
extension SQLiteStatement {
    func bind(_ row: CredentialRow) -> SQLiteStatement {
        bind(row.id.bytes).bind(row.subject.utf8).bind(row.kind.rawValue)
            .bind(row.state.rawValue).bind(row.version).bind(row.keyID)
            .bind(row.fingerprint).bind(row.createdAt).bind(row.lapsesAt).bind(row.body)
    }

    func bind(_ row: TicketRow) -> SQLiteStatement {
        bind(row.digest).bind(row.purpose.rawValue).bind(row.credential.bytes)
            .bind(row.subject.utf8).bind(row.verification.bytes).bind(row.createdAt)
            .bind(row.expiresAt)
    }

    func bind(_ row: AnswerRow) -> SQLiteStatement {
        bind(row.key).bind(row.request).bind(row.credential?.bytes).bind(row.sealed?.keyID)
            .bind(row.sealed?.bytes).bind(row.expiresAt)
    }

    func bind(_ row: ClientRow) -> SQLiteStatement {
        bind(row.id).bind(row.version).bind(row.digest).bind(Array(row.name.utf8))
            .bind(TextList.bytes(row.scopes)).bind(row.createdAt).bind(row.revokedAt)
    }

    func bind(_ start: ChainStart) -> SQLiteStatement {
        bind(start.node).bind(start.sequence).bind(start.digest).bind(start.position)
            .bind(start.behind).bind(start.pruning?.before).bind(start.pruning?.at)
            .bind(start.authentication)
    }

    func bind(_ time: UnixTime?) -> SQLiteStatement { bind(time?.milliseconds) }

    func bind(_ key: KeyID?) -> SQLiteStatement { bind(key.map { Int64($0.number) }) }

    /// Binds a count.
    ///
    /// Counts fit in 63 bits, as the store's protocol promises; the database refuses a larger one.
    func bind(_ count: UInt64) -> SQLiteStatement { bind(Int64(exactly: count)) }
}

extension SQLiteStatement {
    /// The row for an audit; a damaged row is represented by its first column.
    func audited<Row>(
        _ read: (SQLiteStatement) throws(SQLiteFailure) -> Row
    ) throws(SQLiteFailure) -> AuditedRow<Row> {
        do throws(SQLiteFailure) { return .whole(try read(self)) } catch .invalidRow {
            rewind()
            return .damaged(key: try requiredBytes())
        }
    }
}
