internal import SQLStore
internal import Verification
internal import WatchwordSystem

// Creates and migrates the tables, in the first process that connects.
extension PostgreSQLConnection {
    /// Runs the missing schema steps, in one process at a time.
    ///
    /// The connection must not be in pipeline mode yet.
    func updateSchema(timeout: Duration) throws(SQLStoreError) {
        guard reported("server_encoding") == "UTF8" else { throw .notUTF8 }
        try requireOwnSchema()
        let steps = PostgreSQLDialect.steps
        guard try SQLStoreError.store(in: takenSteps()) != steps.count else { return }
        let lockTimeout = (timeout * 10).millisecondsRoundedUp
        try SQLStoreError.store(
            in: execute(
                "BEGIN; SET LOCAL lock_timeout = \(lockTimeout); SET LOCAL client_min_messages = "
                    + "warning; SELECT pg_advisory_xact_lock(\(PostgreSQLDialect.lockClass), 0)"))
        let taken = try SQLStoreError.store(in: takenSteps())
        guard taken <= steps.count else { throw .newer(schema: taken) }
        for step in steps.dropFirst(taken) { try SQLStoreError.store(in: execute(step)) }
        if taken < steps.count {
            try SQLStoreError.store(
                in: execute("UPDATE watchword.steps SET taken = \(steps.count)"))
        }
        try SQLStoreError.store(in: execute("COMMIT"))
    }

    /// The number of schema steps that were applied to the database.
    func takenSteps() throws(StoreFailure) -> Int {
        // Query the system catalogue's tables, because a session's cache (which `to_regclass` uses)
        // may be older than the tables that another process created.
        let exists = try number(
            "SELECT count(*) FROM pg_catalog.pg_class AS class JOIN pg_catalog.pg_namespace AS space "
                + "ON space.oid = class.relnamespace "
                + "WHERE space.nspname = 'watchword' AND class.relname = 'steps'")
        guard exists == 1 else { return 0 }
        return Int(try number("SELECT taken FROM watchword.steps"))
    }

    /// Returns the number of schema steps that were applied to the database.
    ///
    /// - Throws: ``SQLStoreError/empty`` if the tables do not exist;
    ///   ``SQLStoreError/changedSchema(object:)``.
    @discardableResult func expectTables() throws(SQLStoreError) -> Int {
        let taken = try SQLStoreError.store(in: takenSteps())
        guard taken > 0 else { throw .empty }
        guard taken <= PostgreSQLDialect.steps.count else { throw .newer(schema: taken) }
        try requireOwnSchema()
        return taken
    }
}

// The owner of the tables can add code that runs inside our statements, or rules that change them.
extension PostgreSQLConnection {
    /// Refuses tables with an added trigger, rule or other object that acts on our statements.
    ///
    /// Other tables in the schema, and plain indexes, have no effect on a decision and are allowed.
    ///
    /// - Throws: ``SQLStoreError/changedSchema(object:)``.
    func requireOwnSchema() throws(SQLStoreError) {
        // The role's own search path could replace the operators of the query.
        try SQLStoreError.store(in: execute("SET search_path = pg_catalog, pg_temp"))
        let object = try SQLStoreError.store(
            in: first(Self.foreignObjects) { row throws(StoreFailure) in
                String(decoding: try row.requiredBytes(), as: UTF8.self)
            })
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
    private static let ownFunctions = PostgreSQLDialect.functions.map {
        "('\($0.name)', $body$\($0.body)$body$)"
    }
    .joined(separator: ", ")
}
