internal import Verification

// Whoever owns the tables can add code that runs inside our statements, or rules that change them.
extension PostgreSQLConnection {
    /// Refuses tables to which somebody added a trigger, a rule or anything else that acts on our
    /// statements.
    ///
    /// Other tables in the schema, and plain indexes, have no effect on a decision and are allowed.
    ///
    /// - Throws: ``PostgreSQLStoreError/changedSchema(object:)``.
    func requireOwnSchema() throws(PostgreSQLStoreError) {
        let object: String?
        do throws(PostgreSQLFailure) {
            // The role's own search path could replace the operators of the query.
            try execute("SET search_path = pg_catalog, pg_temp")
            object = try first(Self.foreignObjects) { row throws(PostgreSQLFailure) in
                String(decoding: try row.requiredBytes(), as: UTF8.self)
            }
        } catch {
            throw PostgreSQLStoreError(error)
        }
        if let object { throw .changedSchema(object: object) }
    }

    private static let foreignObjects = """
        WITH space AS (SELECT oid FROM pg_namespace WHERE nspname = 'watchword'),
        tables AS (
            SELECT class.* FROM pg_class AS class JOIN space ON space.oid = class.relnamespace
        ),
        foreign_objects (name) AS (
            SELECT 'trigger ' || tgname FROM pg_trigger JOIN tables ON tables.oid = tgrelid
                WHERE NOT tgisinternal
            UNION ALL SELECT 'view ' || relname FROM tables
                WHERE relkind NOT IN ('r', 'i', 'S')
            UNION ALL SELECT 'rule ' || rulename FROM pg_rewrite JOIN tables ON tables.oid = ev_class
                WHERE rulename <> '_RETURN'
            UNION ALL SELECT 'row security policy for ' || relname FROM tables WHERE relrowsecurity
            UNION ALL SELECT 'parent or child table of ' || relname FROM pg_inherits
                JOIN tables ON tables.oid IN (inhparent, inhrelid)
            UNION ALL SELECT 'constraint ' || conname FROM pg_constraint
                JOIN tables ON tables.oid = conrelid
                WHERE contype NOT IN ('p', 'u', 'n')
                AND pg_get_constraintdef(pg_constraint.oid) <> 'CHECK ((length(id) = 16))'
            UNION ALL SELECT 'column ' || attname FROM pg_attribute
                JOIN tables ON tables.oid = attrelid
                LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
                WHERE attnum > 0 AND NOT attisdropped
                AND (attgenerated <> '' OR pg_get_expr(adbin, adrelid) <> 'true')
            UNION ALL SELECT 'index ' || relname FROM pg_index JOIN tables ON tables.oid = indexrelid
                WHERE indexprs IS NOT NULL
            UNION ALL SELECT 'function ' || proname FROM pg_proc
                JOIN space ON space.oid = pronamespace
                WHERE prosecdef OR proconfig IS NOT NULL OR (proname, prosrc) NOT IN (\(ownFunctions))
            UNION ALL SELECT 'operator ' || oprname FROM pg_operator
                JOIN space ON space.oid = oprnamespace
        )
        SELECT name FROM foreign_objects ORDER BY name LIMIT 1
        """

    /// The names and bodies of our functions, as rows in SQL.
    private static let ownFunctions = Schema.functions.map {
        "('\($0.name)', $body$\($0.body)$body$)"
    }
    .joined(separator: ", ")
}
