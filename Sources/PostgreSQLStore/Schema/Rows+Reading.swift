internal import Cryptography
internal import Verification

// Decodes rows from their columns, in the order in which StoreStatement names them. Only this
// program writes here, so a row that does not decode or is not authentic is damaged.
extension PostgreSQLRow {
    /// - Parameter key: `nil` to skip the authenticity check; nothing may be accepted based on such
    ///   a row.
    mutating func credential(_ key: AuditKey?) throws(PostgreSQLFailure) -> CredentialRow {
        try authentic(
            CredentialRow(
                id: try value(CredentialID(bytes: requiredBytes())),
                subject: try value(Subject(utf8: requiredBytes())),
                kind: try value(CredentialKind(rawValue: requiredText())),
                state: try value(CredentialState(rawValue: requiredText())),
                version: try unsigned(), keyID: try keyID(), fingerprint: bytes(),
                createdAt: try time(), lapsesAt: try integer().map(UnixTime.init(milliseconds:)),
                body: try requiredBytes()),
            key)
    }

    mutating func ticket(_ key: AuditKey) throws(PostgreSQLFailure) -> TicketRow {
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

    mutating func answer(_ authenticator: AuditKey) throws(PostgreSQLFailure) -> AnswerRow {
        let (key, request) = (try requiredBytes(), try requiredBytes())
        let credential = try bytes().map { id throws(PostgreSQLFailure) in
            try value(CredentialID(bytes: id))
        }
        let sealed: AnswerRow.Sealed?
        switch (try keyID(), bytes()) {
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

    mutating func client(_ key: AuditKey) throws(PostgreSQLFailure) -> ClientRow {
        try authentic(
            ClientRow(
                id: try requiredBytes(), version: try unsigned(), digest: try requiredBytes(),
                name: try requiredText(), scopes: try value(TextList.read(requiredBytes())),
                createdAt: try time(), revokedAt: try integer().map(UnixTime.init(milliseconds:))),
            key)
    }

    /// Returns the row if the next column is its authentication code.
    private mutating func authentic<Row: StoredRow>(
        _ row: Row, _ key: AuditKey?
    ) throws(PostgreSQLFailure) -> Row {
        let code = try requiredBytes()
        guard let key else { return row }
        let isAuthentic: Bool
        do throws(CryptographyFailure) {
            isAuthentic = try key.isAuthentic(row, by: code)
        } catch { throw .cryptography }
        guard isAuthentic else { throw .invalidRow }
        return row
    }

    mutating func event() throws(PostgreSQLFailure) -> ChainedEvent {
        ChainedEvent(
            position: try unsigned(), node: try requiredBytes(), sequence: try unsigned(),
            behind: try unsigned(), body: try requiredBytes(), digest: try requiredBytes(),
            time: try time())
    }

    mutating func chain() throws(PostgreSQLFailure) -> ChainRecord {
        let node = try requiredBytes()
        return ChainRecord(
            start: try start(of: node), head: try mark(of: node), headPosition: try unsigned())
    }

    private mutating func start(of node: [UInt8]) throws(PostgreSQLFailure) -> ChainStart {
        let (sequence, digest) = (try unsigned(), try requiredBytes())
        let (position, behind) = (try unsigned(), try unsigned())
        let (before, at) = (try integer(), try integer())
        return ChainStart(
            node: node, sequence: sequence, digest: digest, position: position, behind: behind,
            pruning: PrunedEvents(before: before, at: at), authentication: try requiredBytes())
    }

    mutating func mark(of node: [UInt8]) throws(PostgreSQLFailure) -> ChainCheckpoint {
        ChainCheckpoint(
            node: node, sequence: try unsigned(), digest: try requiredBytes(),
            authentication: try requiredBytes())
    }

    mutating func unsigned() throws(PostgreSQLFailure) -> UInt64 {
        try value(UInt64(exactly: requiredInteger()))
    }

    mutating func keyID() throws(PostgreSQLFailure) -> KeyID? {
        guard let number = try integer() else { return nil }
        return try value(UInt32(exactly: number).flatMap { KeyID($0) })
    }

    mutating func time() throws(PostgreSQLFailure) -> UnixTime {
        UnixTime(milliseconds: try requiredInteger())
    }

    func value<Value>(_ read: Value?) throws(PostgreSQLFailure) -> Value {
        guard let read else { throw .invalidRow }
        return read
    }
}

extension PostgreSQLRow {
    /// The row for an audit; a damaged row is represented by its first column.
    func audited<Row>(
        _ read: (inout PostgreSQLRow) throws(PostgreSQLFailure) -> Row
    ) throws(PostgreSQLFailure) -> AuditedRow<Row> {
        var (row, damaged) = (self, self)
        do throws(PostgreSQLFailure) { return .whole(try read(&row)) } catch .invalidRow {
            return .damaged(key: try damaged.requiredBytes())
        }
    }
}
