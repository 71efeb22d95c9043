internal import Verification

/// Every frequently used statement, by name, so that each is prepared once per connection.
enum StoreStatement: Int, CaseIterable, PageStatement {
    case begin, commit, rollback, savepoint, release, rollbackTo
    case credentialByID, credentialsAlive, credentialsRevoked, credentialByFingerprint
    case credentialsUnderKey, credentialsByID, credentialUsage, answerUsage
    case ticket, challenge, answer, clientByDigest, clients, events, chains
    case ticketsByDigest, challengesByDigest, answersByKey, clientsByID
    case hasCapacity, insertCredential, updateBody, updateCredential
    case insertTicket, spendTicket, dropTickets, insertChallenge, spendChallenge
    case insertAnswer, deleteAnswer, endAnswers
    case insertClient, updateClient
    case writeDummy, insertEvent, lastChain, updateHead
    case endLapsedAnswers, pruneCredentials, pruneTickets, pruneChallenges, pruneAnswers
    case pruneEvents, updateStart

    var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .savepoint: "SAVEPOINT member"
        case .release: "RELEASE member"
        case .rollbackTo: "ROLLBACK TO member"
        case .credentialByID: Self.credential + "WHERE id >= ?1 ORDER BY id LIMIT 1"
        case .credentialsAlive:
            Self.credential
                + "WHERE subject = ?1 AND is_revoked = 0 ORDER BY created_at, id LIMIT ?2"
        case .credentialsRevoked:
            Self.credential + "WHERE subject = ?1 AND is_revoked = 1 AND created_at < ?3 "
                + "ORDER BY created_at DESC, id DESC LIMIT ?2"
        case .credentialByFingerprint: Self.credential + "WHERE fingerprint = ?1"
        case .credentialsUnderKey:
            Self.credential + "WHERE key_id = ?1 AND id >= ?2 ORDER BY id LIMIT ?3"
        case .credentialsByID: Self.credential + "WHERE id >= ?1 ORDER BY id LIMIT ?2"
        case .credentialUsage:
            "SELECT key_id, kind, count(*) FROM credentials WHERE key_id IS NOT NULL "
                + "GROUP BY key_id, kind"
        case .answerUsage:
            "SELECT key_id, count(*) FROM answers WHERE key_id IS NOT NULL GROUP BY key_id"
        case .ticket: Self.ticketRow + "WHERE digest = ?1"
        case .ticketsByDigest: Self.ticketRow + "WHERE digest >= ?1 ORDER BY digest LIMIT ?2"
        case .challenge: Self.challengeRow + "WHERE digest = ?1"
        case .challengesByDigest:
            Self.challengeRow + "WHERE digest >= ?1 ORDER BY digest LIMIT ?2"
        case .answer: Self.answerRow + "WHERE key = ?1"
        case .answersByKey: Self.answerRow + "WHERE key >= ?1 ORDER BY key LIMIT ?2"
        case .clientByDigest: Self.client + "WHERE digest = ?1"
        case .clients: Self.client + "ORDER BY created_at, id"
        case .clientsByID: Self.client + "WHERE id >= ?1 ORDER BY id LIMIT ?2"
        case .events:
            "SELECT position, coalesce(node, x''), sequence, behind, body, digest, time "
                + "FROM events LEFT JOIN chains ON chains.number = events.chain "
                + "WHERE position > ?1 ORDER BY position LIMIT ?2"
        case .chains: "SELECT \(RowColumns.chain) FROM chains ORDER BY number"
        case .hasCapacity:
            "SELECT count(*) < ?2 FROM (SELECT 1 FROM credentials "
                + "WHERE subject = ?1 AND is_revoked = 0 LIMIT ?2)"
        case .insertCredential:
            "INSERT INTO credentials (id, subject, kind, state, version, key_id, fingerprint, "
                + "created_at, lapses_at, body, authentication) "
                + "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
        case .updateBody:
            // SQLite rewrites an index for every column that a statement sets, changed or not. The
            // columns that most decisions leave unchanged are therefore compared, not set.
            "UPDATE credentials SET version = ?5, body = ?10, authentication = ?11 "
                + "WHERE id = ?1 AND version = ?5 - 1 AND subject = ?2 AND kind = ?3 "
                + "AND state = ?4 AND key_id IS ?6 AND fingerprint IS ?7 "
                + "AND created_at = ?8 AND lapses_at IS ?9"
        case .updateCredential:
            "UPDATE credentials SET subject = ?2, kind = ?3, state = ?4, version = ?5, "
                + "key_id = ?6, fingerprint = ?7, created_at = ?8, lapses_at = ?9, body = ?10, "
                + "authentication = ?11 WHERE id = ?1 AND version = ?5 - 1"
        case .insertTicket: "INSERT INTO tickets VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        case .spendTicket: "DELETE FROM tickets WHERE digest = ?1"
        case .dropTickets: "DELETE FROM tickets WHERE credential = ?1"
        case .insertChallenge: "INSERT INTO challenges VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        case .spendChallenge: "DELETE FROM challenges WHERE digest = ?1"
        case .insertAnswer: "INSERT INTO answers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
        case .deleteAnswer: "DELETE FROM answers WHERE key = ?1"
        case .endAnswers: Self.endingAnswers + "credential = ?1"
        case .insertClient: "INSERT INTO clients VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        case .updateClient:
            "UPDATE clients SET version = ?2, digest = ?3, name = ?4, scopes = ?5, "
                + "created_at = ?6, revoked_at = ?7, authentication = ?8 WHERE id = ?1 AND version = ?2 - 1"
        case .writeDummy:
            "INSERT INTO decoys VALUES (?1, ?2) ON CONFLICT DO UPDATE SET body = excluded.body"
        case .insertEvent: "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
        case .lastChain:
            "SELECT number, node, head_sequence, head_digest, head_authentication, head_position "
                + "FROM chains ORDER BY number DESC LIMIT 1"
        case .updateHead:
            "UPDATE chains SET head_sequence = ?2, head_digest = ?3, head_authentication = ?4, "
                + "head_position = ?5 WHERE number = ?1"
        case .endLapsedAnswers: Self.endingAnswers + "credential IN " + Self.lapsed
        case .pruneCredentials: "DELETE FROM credentials WHERE id IN " + Self.lapsed
        case .pruneTickets:
            "DELETE FROM tickets WHERE digest IN (SELECT digest FROM tickets "
                + "WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"
        case .pruneChallenges:
            "DELETE FROM challenges WHERE digest IN (SELECT digest FROM challenges "
                + "WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"
        case .pruneAnswers:
            "DELETE FROM answers WHERE key IN (SELECT key FROM answers "
                + "WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"
        case .pruneEvents: "DELETE FROM events WHERE position <= ?1"
        case .updateStart:
            "UPDATE chains SET start_sequence = ?2, start_digest = ?3, start_position = ?4, "
                + "start_behind = ?5, pruned_before = ?6, pruned_at = ?7, "
                + "start_authentication = ?8 WHERE node = ?1"
        }
    }

    // The column contains the row's authentication code, followed by the code of the same row
    // without its response; only the second code is kept.
    private static let endingAnswers =
        "UPDATE answers SET key_id = NULL, sealed_answer = NULL, "
        + "authentication = substr(authentication, \(AuditKey.rowCodeCount + 1)) "
        + "WHERE sealed_answer IS NOT NULL AND "
    private static let lapsed =
        "(SELECT id FROM credentials "
        + "WHERE lapses_at <= ?1 AND state <> 'active' ORDER BY lapses_at, id LIMIT ?2)"
    private static let credential = "SELECT \(RowColumns.credential) FROM credentials "
    private static let ticketRow = "SELECT \(RowColumns.ticket) FROM tickets "
    private static let challengeRow = "SELECT \(RowColumns.challenge) FROM challenges "
    private static let answerRow = "SELECT \(RowColumns.answer) FROM answers "
    private static let client = "SELECT \(RowColumns.client) FROM clients "
}
