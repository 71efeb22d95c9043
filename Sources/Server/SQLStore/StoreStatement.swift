package import Verification

/// Every frequently used statement of the stores, by name, so that each is prepared once per
/// connection.
///
/// SQLite writes one row at a time. In PostgreSQL, one statement writes all rows of a kind that a
/// transaction changes.
package enum StoreStatement: String, CaseIterable, Sendable {
    // Statements of both databases.
    case credentialByID, credentialsAlive, credentialsRevoked, credentialByFingerprint
    case credentialsBySubject, credentialsUnderKey, credentialsByID, credentialUsage, answerUsage
    case ticket, challenge, answer, clientByDigest, clients, events, chains
    case ticketsByDigest, challengesByDigest, answersByKey, clientsByID
    case requireCapacity, insertCredentials, updateCredentials
    case insertTickets, spendTickets, dropTickets, insertChallenges, spendChallenges
    case insertAnswers, endAnswers, insertClients, updateClients, writeDummies
    case pruneCredentials, pruneTickets, pruneChallenges, pruneAnswers, pruneEvents
    case beginChain, updateStart

    // Statements of SQLite only.
    case begin, commit, rollback, savepoint, release, rollbackTo
    case updateBody, deleteAnswer, endLapsedAnswers, insertEvent, lastChain, updateHead

    // Statements of PostgreSQL only.
    case credentialsAliveOfEach, knownHeads, lockSubjects, seekCredentials, dropChallenges
    case seekAnswers, appendEvents, openChains, lockChain, unlockChain, chainHead, closeChains
    case leap, claimKeys

    /// The statement's text; `nil` if the database has no such statement.
    package func sql(in dialect: some Dialect) -> String? {
        func bytes(_ number: Int) -> String { dialect.argument(number, .bytes) }
        func integer(_ number: Int) -> String { dialect.argument(number, .integer) }
        switch self {
        case .credentialByID:
            return dialect.select(
                CredentialRow.self, "WHERE id >= \(bytes(1)) ORDER BY id LIMIT 1")
        case .credentialsAlive:
            return dialect.select(
                CredentialRow.self,
                "WHERE subject = \(bytes(1)) AND \(dialect.isRevoked(false)) "
                    + "ORDER BY created_at, id LIMIT \(integer(2))")
        case .credentialsRevoked:
            return dialect.select(
                CredentialRow.self,
                "WHERE subject = \(bytes(1)) AND \(dialect.isRevoked(true)) "
                    + "AND created_at < \(integer(3)) "
                    + "ORDER BY created_at DESC, id DESC LIMIT \(integer(2))")
        case .credentialsBySubject:
            return dialect.select(
                CredentialRow.self,
                "WHERE subject >= \(bytes(1)) AND subject < \(bytes(2)) "
                    + "AND \(dialect.isRevoked(false)) "
                    + "ORDER BY subject, created_at, id LIMIT \(integer(3))")
        case .credentialByFingerprint:
            return dialect.select(CredentialRow.self, "WHERE fingerprint = \(bytes(1))")
        case .credentialsUnderKey:
            return dialect.select(
                CredentialRow.self,
                "WHERE key_id = \(integer(1)) AND id >= \(bytes(2)) "
                    + "ORDER BY id LIMIT \(integer(3))")
        case .credentialUsage:
            return "SELECT key_id, kind, count(*) FROM credentials WHERE key_id IS NOT NULL "
                + "GROUP BY key_id, kind"
        case .answerUsage:
            return "SELECT key_id, count(*) FROM answers WHERE key_id IS NOT NULL GROUP BY key_id"
        case .ticket: return dialect.find(TicketRow.self)
        case .challenge: return dialect.find(ChallengeRow.self)
        case .answer: return dialect.find(AnswerRow.self)
        case .clientByDigest:
            return dialect.select(ClientRow.self, "WHERE digest = \(bytes(1))")
        case .clients: return dialect.select(ClientRow.self, "ORDER BY created_at, id")
        case .credentialsByID: return dialect.page(CredentialRow.self)
        case .ticketsByDigest: return dialect.page(TicketRow.self)
        case .challengesByDigest: return dialect.page(ChallengeRow.self)
        case .answersByKey: return dialect.page(AnswerRow.self)
        case .clientsByID: return dialect.page(ClientRow.self)
        case .events:
            return "SELECT position, coalesce(node, \(dialect.emptyBytes)), sequence, behind, "
                + "body, digest, time FROM events LEFT JOIN chains "
                + "ON chains.number = events.chain "
                + "WHERE position > \(integer(1)) ORDER BY position LIMIT \(integer(2))"
        case .chains: return "SELECT \(chainColumns) FROM chains ORDER BY number"
        case .insertCredentials: return dialect.inserting(CredentialRow.self)
        case .updateCredentials: return dialect.updating(CredentialRow.self)
        case .insertTickets: return dialect.inserting(TicketRow.self)
        case .spendTickets: return dialect.spending(TicketRow.self)
        case .dropTickets: return "DELETE FROM tickets WHERE \(dialect.isPassed("credential"))"
        case .insertChallenges: return dialect.inserting(ChallengeRow.self)
        case .spendChallenges: return dialect.spending(ChallengeRow.self)
        case .insertAnswers: return dialect.inserting(AnswerRow.self)
        case .endAnswers: return dialect.endingAnswers(dialect.isPassed("credential"))
        case .insertClients: return dialect.inserting(ClientRow.self)
        case .updateClients: return dialect.updating(ClientRow.self)
        case .pruneTickets: return dialect.pruning(TicketRow.self)
        case .pruneChallenges: return dialect.pruning(ChallengeRow.self)
        case .pruneAnswers: return dialect.pruning(AnswerRow.self)
        case .pruneEvents: return "DELETE FROM events WHERE position <= \(integer(1))"
        case .updateStart:
            return "UPDATE chains SET start_sequence = \(integer(2)), start_digest = \(bytes(3)), "
                + "start_position = \(integer(4)), start_behind = \(integer(5)), "
                + "pruned_before = \(integer(6)), pruned_at = \(integer(7)), "
                + "start_authentication = \(bytes(8)) WHERE node = \(bytes(1))"
        default: return dialect.ownSQL(of: self)
        }
    }
}

extension CredentialQuery {
    /// The statement that answers the query, and its arguments.
    package func statement(limit: Int) -> (StoreStatement, [StoredValue]) {
        let limit = limit.storedValue
        switch self {
        case .alive(let subject): return (.credentialsAlive, [subject.storedValue, limit])
        case .revoked(let subject, let time):
            return (.credentialsRevoked, [subject.storedValue, limit, time.storedValue])
        case .aliveBySubject(let prefix, let last):
            let next = last.map { StoreWalk.following($0.utf8) } ?? []
            let first = prefix.lexicographicallyPrecedes(next) ? next : prefix
            // No UTF-8 text contains this byte, so it follows every text with the prefix.
            let end = prefix + [0xFF]
            return (.credentialsBySubject, [first.storedValue, end.storedValue, limit])
        case .under(let version, let last):
            let first = (last.map { StoreWalk.following($0.bytes) } ?? []).storedValue
            guard let version else { return (.credentialsByID, [first, limit]) }
            return (.credentialsUnderKey, [version.storedValue, first, limit])
        }
    }
}

extension ChainStart {
    /// The arguments of ``StoreStatement/updateStart``, which are also the first columns of a
    /// chain's record.
    package var arguments: [StoredValue] {
        [
            node.storedValue, sequence.storedValue, digest.storedValue, position.storedValue,
            behind.storedValue, (pruning?.before).storedValue, (pruning?.at).storedValue,
            authentication.storedValue,
        ]
    }
}
