internal import Verification

/// Every frequently used statement, by name, so that each is prepared once per connection.
///
/// A commit runs one statement for all rows of a kind and passes their values in arrays; one array
/// names the batch member that each row belongs to. `watchword.expect` reports members without a
/// matching row and aborts the transaction.
enum StoreStatement: String, CaseIterable, PageStatement {
    case credentialByID, credentialsAlive, credentialsAliveOfEach, credentialsRevoked
    case credentialByFingerprint
    case credentialsUnderKey, credentialsByID, credentialUsage, answerUsage
    case ticket, challenge, answer, clientByDigest, clients, events, chains, knownHeads
    case ticketsByDigest, challengesByDigest, answersByKey, clientsByID
    case lockSubjects, requireCapacity, insertCredentials, updateCredentials, seekCredentials
    case insertTickets, spendTickets, dropTickets, insertChallenges, spendChallenges
    case dropChallenges, insertAnswers, seekAnswers, endAnswers
    case insertClients, updateClients
    case writeDummies, appendEvents
    case openChains, lockChain, unlockChain, chainHead, beginChain
    case closeChains, leap, claimKeys
    case pruneCredentials, pruneTickets, pruneChallenges, pruneAnswers, pruneEvents, updateStart

    /// The statement's name on the connection.
    var name: String { rawValue }

    /// The statements of a connection that reads.
    static let reading: [StoreStatement] = [
        .credentialByID, .credentialsAlive, .credentialsAliveOfEach, .credentialsRevoked,
        .credentialByFingerprint, .credentialsUnderKey, .credentialsByID, .credentialUsage,
        .answerUsage, .ticket, .challenge, .answer, .clientByDigest, .clients, .events, .chains,
        .knownHeads,
    ]

    /// The statements of a connection that commits.
    static let writing: [StoreStatement] = [
        .lockSubjects, .requireCapacity, .insertCredentials, .updateCredentials, .seekCredentials,
        .insertTickets, .spendTickets, .dropTickets, .insertChallenges, .spendChallenges,
        .dropChallenges, .endAnswers, .insertAnswers, .seekAnswers, .insertClients,
        .updateClients, .writeDummies, .appendEvents, .openChains,
        .lockChain, .unlockChain, .chainHead, .beginChain, .knownHeads,
    ]

    /// The statements of an audit of a database with this number of schema steps.
    static func auditing(steps: Int) -> [StoreStatement] {
        [.chains, .events, .credentialsByID, .ticketsByDigest, .answersByKey, .clientsByID]
            + (steps < Schema.stepOfChallenges ? [] : [.challengesByDigest])
    }

    /// The statements of pruning.
    static let pruning: [StoreStatement] = [
        .events, .chains, .pruneCredentials, .pruneTickets, .pruneChallenges, .pruneAnswers,
        .pruneEvents, .updateStart, .knownHeads,
    ]

    var sql: String {
        switch self {
        case .credentialByID: Self.credential + "WHERE id >= $1::bytea ORDER BY id LIMIT 1"
        case .credentialsAlive:
            Self.credential + "WHERE subject = $1::bytea AND state <> 'revoked' "
                + "ORDER BY created_at, id LIMIT $2::bigint"
        case .credentialsAliveOfEach:
            // Sessions are configured to use only nested loops, so the rows are returned subject by
            // subject, in order for each subject.
            "SELECT wanted.number, found.* FROM unnest($1::bytea[]) "
                + "WITH ORDINALITY AS wanted (subject, number) CROSS JOIN LATERAL ("
                + Self.credential
                + "WHERE credentials.subject = wanted.subject AND state <> 'revoked' "
                + "ORDER BY created_at, id LIMIT $2::bigint) AS found"
        case .credentialsRevoked:
            Self.credential + "WHERE subject = $1::bytea AND state = 'revoked' "
                + "AND created_at < $3::bigint ORDER BY created_at DESC, id DESC LIMIT $2::bigint"
        case .credentialByFingerprint: Self.credential + "WHERE fingerprint = $1::bytea"
        case .credentialsUnderKey:
            Self.credential + "WHERE key_id = $1::bigint AND id >= $2::bytea "
                + "ORDER BY id LIMIT $3::bigint"
        case .credentialsByID:
            Self.credential + "WHERE id >= $1::bytea ORDER BY id LIMIT $2::bigint"
        case .credentialUsage:
            "SELECT key_id, kind, count(*) FROM credentials WHERE key_id IS NOT NULL "
                + "GROUP BY key_id, kind"
        case .answerUsage:
            "SELECT key_id, count(*) FROM answers WHERE key_id IS NOT NULL GROUP BY key_id"
        case .ticket: Self.ticketRow + "WHERE digest = $1::bytea"
        case .ticketsByDigest:
            Self.ticketRow + "WHERE digest >= $1::bytea ORDER BY digest LIMIT $2::bigint"
        case .challenge: Self.challengeRow + "WHERE digest = $1::bytea"
        case .challengesByDigest:
            Self.challengeRow + "WHERE digest >= $1::bytea ORDER BY digest LIMIT $2::bigint"
        case .answer: Self.answerRow + "WHERE key = $1::bytea"
        case .answersByKey: Self.answerRow + "WHERE key >= $1::bytea ORDER BY key LIMIT $2::bigint"
        case .clientByDigest: Self.client + "WHERE digest = $1::bytea"
        case .clients: Self.client + "ORDER BY created_at, id"
        case .clientsByID: Self.client + "WHERE id >= $1::bytea ORDER BY id LIMIT $2::bigint"
        case .events:
            "SELECT position, coalesce(node, ''::bytea), sequence, behind, body, digest, time "
                + "FROM events LEFT JOIN chains ON chains.number = events.chain "
                + "WHERE position > $1::bigint ORDER BY position LIMIT $2::bigint"
        case .chains: "SELECT \(RowColumns.chain) FROM chains ORDER BY number"
        case .knownHeads:
            "SELECT node, start_sequence, head_sequence, head_digest, events.digest FROM "
                + "unnest($1::bytea[], $2::bigint[]) AS known (node, position) "
                + "JOIN chains USING (node) LEFT JOIN events "
                + "ON events.position = known.position AND events.chain = chains.number"
        case .openChains, .lockChain, .unlockChain, .chainHead, .beginChain, .appendEvents,
            .closeChains, .leap:
            chainSQL
        case .claimKeys:
            // The first process to register a number decides which key has it; later processes get
            // that key's fingerprint.
            "INSERT INTO keys SELECT * FROM unnest($1::bigint[], $2::bytea[]) "
                + "ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING id, fingerprint"
        case .pruneCredentials, .pruneTickets, .pruneChallenges, .pruneAnswers, .pruneEvents,
            .updateStart:
            pruningSQL
        default: writingSQL
        }
    }

    private static let credential = "SELECT \(RowColumns.credential) FROM credentials "
    private static let ticketRow = "SELECT \(RowColumns.ticket) FROM tickets "
    private static let challengeRow = "SELECT \(RowColumns.challenge) FROM challenges "
    private static let answerRow = "SELECT \(RowColumns.answer) FROM answers "
    private static let client = "SELECT \(RowColumns.client) FROM clients "
}
