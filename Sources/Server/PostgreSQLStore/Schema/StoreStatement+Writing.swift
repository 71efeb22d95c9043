internal import Verification

// Arrays are sorted by the rows' keys, and a loop over them finds each row through its index
// (sessions turn other join methods off), so that two processes lock common rows in the same order.
extension StoreStatement {
    var writingSQL: String {
        switch self {
        case .lockSubjects:
            // This is a separate statement, so that the count in the next one includes what earlier
            // holders of the lock did.
            "SELECT pg_advisory_xact_lock(\(Schema.subjectLockClass), number::integer) "
                + "FROM unnest($1::bigint[]) AS number"
        case .requireCapacity:
            "SELECT expect($1::integer[], ARRAY(SELECT member FROM "
                + "unnest($1, $2::bytea[], $3::bigint[]) AS wanted (member, subject, room) "
                + "WHERE (SELECT count(*) FROM (SELECT FROM credentials "
                + "WHERE credentials.subject = wanted.subject AND state <> 'revoked' LIMIT room) "
                + "AS found) < room))"
        case .insertCredentials:
            Self.inserting(
                "credentials", "id",
                "subject, kind, state, version, key_id, fingerprint, "
                    + "created_at, lapses_at, body, authentication",
                "bytea", "bytea, text, text, bigint, bigint, bytea, bigint, bigint, bytea, bytea")
        case .updateCredentials: Self.updatingCredentials(Self.done)
        case .seekCredentials: Self.updatingCredentials("$1 || \(Self.done)")
        case .insertTickets:
            Self.inserting(
                "tickets", "digest",
                "purpose, credential, subject, verification, created_at, expires_at, "
                    + "authentication",
                "bytea", "text, bytea, bytea, bytea, bigint, bigint, bytea")
        case .spendTickets: Self.spending("tickets")
        case .dropTickets: "DELETE FROM tickets WHERE credential = ANY ($1::bytea[])"
        case .insertChallenges:
            Self.inserting(
                "challenges", "digest",
                "purpose, subject, credential, body, created_at, expires_at, authentication",
                "bytea", "text, bytea, bytea, bytea, bigint, bigint, bytea")
        case .spendChallenges: Self.spending("challenges")
        case .dropChallenges:
            // A row that another transaction has locked is left to it, which prevents a deadlock.
            "DELETE FROM challenges WHERE digest = ANY (ARRAY(SELECT digest FROM challenges "
                + "WHERE digest = ANY ($1::bytea[]) FOR UPDATE SKIP LOCKED))"
        case .insertAnswers:
            Self.inserting(
                "answers", "key",
                "request, credential, key_id, sealed_answer, expires_at, authentication",
                "bytea", "bytea, bytea, bigint, bytea, bigint, bytea")
        case .seekAnswers:
            "SELECT expect($1::integer[], ARRAY(SELECT member FROM "
                + "unnest($1, $2::bytea[]) AS wanted (member, key) "
                + "WHERE NOT EXISTS (SELECT FROM answers WHERE answers.key = wanted.key)))"
        case .endAnswers: Self.endingAnswers + "credential = ANY ($1::bytea[])"
        case .insertClients:
            Self.inserting(
                "clients", "id",
                "version, digest, name, scopes, created_at, revoked_at, authentication", "bytea",
                "bigint, bytea, bytea, bytea, bigint, bigint, bytea")
        case .updateClients:
            Self.updating(
                "clients",
                "version, digest, name, scopes, created_at, revoked_at, authentication",
                "bigint, bytea, bytea, bytea, bigint, bigint, bytea")
        case .writeDummies:
            "INSERT INTO decoys SELECT * FROM unnest($1::bigint[], $2::bytea[]) "
                + "ON CONFLICT (slot) DO UPDATE SET body = excluded.body"
        default: preconditionFailure("not a statement that writes rows")
        }
    }

    var chainSQL: String {
        switch self {
        case .openChains:
            "SELECT number, node, head_sequence, head_digest, head_authentication FROM chains "
                + "WHERE is_open ORDER BY number"
        case .lockChain:
            "SELECT pg_try_advisory_lock(\(Schema.lockClass), $1::bigint::integer)::integer"
        case .unlockChain:
            "SELECT pg_advisory_unlock(\(Schema.lockClass), $1::bigint::integer)::integer"
        case .chainHead:
            "SELECT node, head_sequence, head_digest, head_authentication, head_position, "
                + "head_sequence = start_sequence OR events.digest IS NOT DISTINCT FROM head_digest "
                + "FROM chains LEFT JOIN events ON events.position = head_position "
                + "WHERE number = $1::bigint AND is_open"
        case .beginChain:
            "INSERT INTO chains (node, start_sequence, start_digest, start_position, "
                + "start_behind, start_authentication, head_sequence, head_digest, "
                + "head_authentication, head_position) "
                + "VALUES ($1::bytea, 0, $2::bytea, 0, 0, $3::bytea, 0, $2, $4::bytea, 0) "
                + "RETURNING number"
        case .closeChains: "UPDATE chains SET is_open = false"
        case .leap: "UPDATE counter SET position = position + $1::bigint"
        case .appendEvents:
            // The counter is locked late, because other transactions wait for it until this one
            // ends. Without events, as for dummies only, everything keeps its value.
            "WITH met AS (SELECT FROM chains WHERE number = $1::bigint "
                + "AND head_sequence = $5::bigint AND head_digest = $6::bytea AND is_open "
                + "FOR UPDATE), "
                + "place AS (UPDATE counter SET position = position + $2::bigint - $5 "
                + "WHERE expect_chain((SELECT count(*) FROM met) = 1) "
                + "RETURNING position AS last), "
                + "head AS (UPDATE chains SET head_sequence = $2, head_digest = $3::bytea, "
                + "head_authentication = $4::bytea, head_position = "
                + "CASE WHEN $2 = $5 THEN head_position ELSE place.last END FROM place "
                + "WHERE number = $1), "
                + "done AS (INSERT INTO events SELECT place.last - $2 + $5 + added.number, $1, "
                + "$5 + added.number, $10::bigint, added.time, added.body, added.digest "
                + "FROM place, unnest($7::bigint[], $8::bytea[], $9::bytea[]) "
                + "WITH ORDINALITY AS added (time, body, digest, number)) "
                + "SELECT last FROM place"
        default: preconditionFailure("not a statement about chains")
        }
    }

    var pruningSQL: String {
        switch self {
        case .pruneCredentials:
            "WITH gone AS ("
                + Self.pruning(
                    "credentials", "id", "lapses_at <= $1 AND state <> 'active'", "lapses_at")
                + " RETURNING id), ended AS (\(Self.endingAnswers)"
                + "credential IN (SELECT id FROM gone)) SELECT id FROM gone"
        case .pruneTickets: Self.pruning("tickets", "digest", "expires_at <= $1", "expires_at")
        case .pruneChallenges:
            Self.pruning("challenges", "digest", "expires_at <= $1", "expires_at")
        case .pruneAnswers: Self.pruning("answers", "key", "expires_at <= $1", "expires_at")
        case .pruneEvents: "DELETE FROM events WHERE position <= $1::bigint"
        case .updateStart:
            "UPDATE chains SET start_sequence = $2::bigint, start_digest = $3::bytea, "
                + "start_position = $4::bigint, start_behind = $5::bigint, "
                + "pruned_before = $6::bigint, pruned_at = $7::bigint, "
                + "start_authentication = $8::bytea WHERE node = $1::bytea"
        default: preconditionFailure("not a statement that prunes")
        }
    }

    // The column contains the row's authentication code, followed by the code of the same row
    // without its response; only the second code is kept.
    private static let endingAnswers =
        "UPDATE answers SET key_id = NULL, sealed_answer = NULL, "
        + "authentication = substring(authentication FROM \(AuditKey.rowCodeCount + 1)) "
        + "WHERE sealed_answer IS NOT NULL AND "

    /// Rows that a decision has locked are left for the next run.
    private static func pruning(
        _ table: String, _ key: String, _ condition: String, _ order: String
    ) -> String {
        "DELETE FROM \(table) WHERE \(key) = ANY (ARRAY(SELECT \(key) FROM \(table) "
            + "WHERE \(condition.replacing("$1", with: "$1::bigint")) ORDER BY \(order) "
            + "LIMIT $2::bigint FOR UPDATE SKIP LOCKED))"
    }

    /// Deletes rows by their digests.
    private static func spending(_ table: String) -> String {
        "WITH done AS (DELETE FROM \(table) "
            + "USING unnest($1::integer[], $2::bytea[]) AS wanted (member, digest) "
            + "WHERE \(table).digest = wanted.digest RETURNING member) "
            + "SELECT expect($1, \(done))"
    }

    /// - Parameter key: the primary key; a conflict with any other unique value is treated in the
    ///   same way.
    private static func inserting(
        _ table: String, _ key: String, _ columns: String, _ keyType: String, _ types: String
    ) -> String {
        "WITH wanted AS (SELECT * FROM \(unnest([keyType] + split(types))) "
            + "AS wanted (member, \(key), \(columns))), "
            + "done AS (INSERT INTO \(table) (\(key), \(columns)) "
            + "SELECT \(key), \(columns) FROM wanted ON CONFLICT DO NOTHING RETURNING \(key)) "
            + "SELECT expect($1, ARRAY(SELECT member FROM wanted JOIN done USING (\(key))))"
    }

    // The last argument is an array of the indexes 1, 2, …: reading values from the arrays by index
    // costs half as much as unnesting that many arrays. `met` selects the members whose condition
    // holds.
    private static func updating(
        _ table: String, _ columns: String, _ types: String, met: String = done
    ) -> String {
        let names = ["member", "id"] + split(columns)
        let types = ["integer", "bytea"] + split(types)
        let values = zip(names, types).enumerated().map { index, column in
            "($\(index + 1)::\(column.1)[])[place] AS \(column.0)"
        }.joined(separator: ", ")
        let assignments = split(columns).map { "\($0) = wanted.\($0)" }.joined(separator: ", ")
        return "WITH done AS (UPDATE \(table) SET \(assignments) "
            + "FROM (SELECT \(values) FROM unnest($\(names.count + 1)::integer[]) AS place) "
            + "AS wanted "
            + "WHERE \(table).id = wanted.id AND \(table).version = wanted.version - 1 "
            + "RETURNING wanted.member) SELECT expect($1, \(met))"
    }

    private static func updatingCredentials(_ met: String) -> String {
        updating(
            "credentials",
            "subject, kind, state, version, key_id, fingerprint, created_at, lapses_at, body, "
                + "authentication",
            "bytea, text, text, bigint, bigint, bytea, bigint, bigint, bytea, bytea", met: met)
    }

    private static let done = "ARRAY(SELECT member FROM done)"

    private static func unnest(_ types: [String]) -> String {
        let arrays = (["integer"] + types).enumerated().map { "$\($0 + 1)::\($1)[]" }
        return "unnest(\(arrays.joined(separator: ", ")))"
    }

    private static func split(_ list: String) -> [String] {
        list.split(separator: ", ").map(String.init)
    }
}
