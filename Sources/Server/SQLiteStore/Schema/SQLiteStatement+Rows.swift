internal import Verification

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

    func bind(_ row: ChallengeRow) -> SQLiteStatement {
        bind(row.digest).bind(row.purpose.rawValue).bind(row.subject?.utf8)
            .bind(row.credential?.bytes).bind(row.body).bind(row.createdAt).bind(row.expiresAt)
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
