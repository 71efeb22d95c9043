package import Verification

/// The SQL of PostgreSQL, where one statement writes all rows of a kind.
///
/// The rows' values are passed in arrays; one array gives each row's batch member.
/// `watchword.expect` reports members without a matching row and aborts the transaction. Arrays are
/// sorted by the rows' keys, and a loop over them finds each row through its index (sessions turn
/// other join methods off), so that two processes lock common rows in the same order.
package struct PostgreSQLDialect: Dialect {
    package let step: Int

    package init(step: Int = Self.steps.count) { self.step = step }

    /// The first of the two numbers of the advisory locks for schema steps and chains: the ASCII
    /// codes of “wwdb”.
    ///
    /// The second number is 0 for the schema steps, otherwise the chain's number.
    package static let lockClass = 0x7777_6462
    /// The first number of the advisory locks for subjects, whose second number is derived from the
    /// subject: “wwsu”.
    private static let subjectLockClass = 0x7777_7375

    package func argument(_ number: Int, _ type: ColumnType) -> String {
        "$\(number)::\(name(of: type))"
    }

    private func name(of type: ColumnType) -> String {
        switch type {
        case .integer: "bigint"
        case .bytes: "bytea"
        case .text: "text"
        }
    }

    package var emptyBytes: String { "''::bytea" }

    package func isRevoked(_ wanted: Bool) -> String { "state \(wanted ? "=" : "<>") 'revoked'" }

    // A conflict with any unique value is treated in the same way as one with the primary key.
    package func inserting<Row: ColumnRow>(_ rows: Row.Type) -> String {
        let (key, columns) = (Row.keyName, Row.columnNames)
        let types = ["integer"] + Row.writtenColumns.map { name(of: $0.type) }
        let arrays = types.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")
        return "WITH wanted AS (SELECT * FROM unnest(\(arrays)) AS wanted (member, \(columns))), "
            + "done AS (INSERT INTO \(Row.table) (\(columns)) "
            + "SELECT \(columns) FROM wanted ON CONFLICT DO NOTHING RETURNING \(key)) "
            + "SELECT expect($1, ARRAY(SELECT member FROM wanted JOIN done USING (\(key))))"
    }

    package func updating<Row: ColumnRow>(_ rows: Row.Type) -> String {
        updating(rows, met: Self.done)
    }

    // The last argument is an array of the indexes 1, 2, …: reading values from the arrays by index
    // costs half as much as unnesting that many arrays. `met` selects the members whose condition
    // holds.
    private func updating<Row: ColumnRow>(_ rows: Row.Type, met: String) -> String {
        let (table, key) = (Row.table, Row.keyName)
        let columns = Row.writtenColumns
        let values = ([("member", "integer")] + columns.map { ($0.name, name(of: $0.type)) })
            .enumerated().map { "($\($0 + 1)::\($1.1)[])[place] AS \($1.0)" }
            .joined(separator: ", ")
        let assignments = columns.dropFirst().map { "\($0.name) = wanted.\($0.name)" }
            .joined(separator: ", ")
        return "WITH done AS (UPDATE \(table) SET \(assignments) "
            + "FROM (SELECT \(values) FROM unnest($\(columns.count + 2)::integer[]) AS place) "
            + "AS wanted "
            + "WHERE \(table).\(key) = wanted.\(key) AND \(table).version = wanted.version - 1 "
            + "RETURNING wanted.member) SELECT expect($1, \(met))"
    }

    package func spending<Row: ColumnRow>(_ rows: Row.Type) -> String {
        let (table, key) = (Row.table, Row.keyName)
        return "WITH done AS (DELETE FROM \(table) "
            + "USING unnest($1::integer[], $2::bytea[]) AS wanted (member, \(key)) "
            + "WHERE \(table).\(key) = wanted.\(key) RETURNING member) "
            + "SELECT expect($1, \(Self.done))"
    }

    package func isPassed(_ column: String) -> String { "\(column) = ANY ($1::bytea[])" }

    package func pruning<Row: ColumnRow>(_ rows: Row.Type) -> String {
        pruning(rows, by: "expires_at")
    }

    /// Rows that a decision has locked are left for the next run.
    private func pruning<Row: ColumnRow>(
        _ rows: Row.Type, by time: String, if condition: String = ""
    ) -> String {
        let (table, key) = (Row.table, Row.keyName)
        return "DELETE FROM \(table) WHERE \(key) = ANY (ARRAY(SELECT \(key) FROM \(table) "
            + "WHERE \(time) <= $1::bigint\(condition) ORDER BY \(time) "
            + "LIMIT $2::bigint FOR UPDATE SKIP LOCKED))"
    }

    package func dropping(_ count: Int, of column: String) -> String {
        "substring(\(column) FROM \(count + 1))"
    }

    package func ownSQL(of statement: StoreStatement) -> String? {
        switch statement {
        case .credentialsAliveOfEach:
            // Sessions are configured to use only nested loops, so the rows are returned subject by
            // subject, in order for each subject.
            "SELECT wanted.number, found.* FROM unnest($1::bytea[]) "
                + "WITH ORDINALITY AS wanted (subject, number) CROSS JOIN LATERAL ("
                + select(
                    CredentialRow.self,
                    "WHERE credentials.subject = wanted.subject AND state <> 'revoked' "
                        + "ORDER BY created_at, id LIMIT $2::bigint") + ") AS found"
        case .lockSubjects:
            // This is a separate statement, so that the count in the next statement includes the
            // changes of earlier holders of the lock.
            "SELECT pg_advisory_xact_lock(\(Self.subjectLockClass), number::integer) "
                + "FROM unnest($1::bigint[]) AS number"
        case .requireCapacity:
            "SELECT expect($1::integer[], ARRAY(SELECT member FROM "
                + "unnest($1, $2::bytea[], $3::bigint[]) AS wanted (member, subject, room) "
                + "WHERE (SELECT count(*) FROM (SELECT FROM credentials "
                + "WHERE credentials.subject = wanted.subject AND state <> 'revoked' LIMIT room) "
                + "AS found) < room))"
        case .seekCredentials: updating(CredentialRow.self, met: "$1 || \(Self.done)")
        case .dropChallenges:
            // A row that another transaction has locked is left to it, which prevents a deadlock.
            "DELETE FROM challenges WHERE digest = ANY (ARRAY(SELECT digest FROM challenges "
                + "WHERE digest = ANY ($1::bytea[]) FOR UPDATE SKIP LOCKED))"
        case .seekAnswers:
            "SELECT expect($1::integer[], ARRAY(SELECT member FROM "
                + "unnest($1, $2::bytea[]) AS wanted (member, key) "
                + "WHERE NOT EXISTS (SELECT FROM answers WHERE answers.key = wanted.key)))"
        case .writeDummies:
            "INSERT INTO decoys SELECT * FROM unnest($1::bigint[], $2::bytea[]) "
                + "ON CONFLICT (slot) DO UPDATE SET body = excluded.body"
        case .pruneCredentials:
            "WITH gone AS ("
                + pruning(CredentialRow.self, by: "lapses_at", if: " AND state <> 'active'")
                + " RETURNING id), ended AS ("
                + endingAnswers("credential IN (SELECT id FROM gone)") + ") SELECT id FROM gone"
        case .claimKeys:
            // The first process that registers a number decides its key; later processes get that
            // key's fingerprint.
            "INSERT INTO keys SELECT * FROM unnest($1::bigint[], $2::bytea[]) "
                + "ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING id, fingerprint"
        default: chainSQL(of: statement)
        }
    }

    private static let done = "ARRAY(SELECT member FROM done)"

    private func chainSQL(of statement: StoreStatement) -> String? {
        switch statement {
        case .knownHeads:
            "SELECT node, start_sequence, head_sequence, head_digest, events.digest FROM "
                + "unnest($1::bytea[], $2::bigint[]) AS known (node, position) "
                + "JOIN chains USING (node) LEFT JOIN events "
                + "ON events.position = known.position AND events.chain = chains.number"
        case .openChains:
            "SELECT number, node, head_sequence, head_digest, head_authentication FROM chains "
                + "WHERE is_open ORDER BY number"
        case .lockChain:
            "SELECT pg_try_advisory_lock(\(Self.lockClass), $1::bigint::integer)::integer"
        case .unlockChain:
            "SELECT pg_advisory_unlock(\(Self.lockClass), $1::bigint::integer)::integer"
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
            // ends. Without events, or with dummies only, every value stays the same.
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
        default: nil
        }
    }
}
