internal import Verification
internal import WatchwordSystem

// Creates and migrates the tables, in the first process that connects.
extension PostgreSQLConnection {
    /// Opens the first connection; its error explains why the server cannot be reached.
    static func opening(
        _ address: PostgreSQLAddress
    ) throws(PostgreSQLStoreError) -> PostgreSQLConnection {
        do { return try PostgreSQLConnection(address) } catch { throw .unreachable(error.message) }
    }

    /// Runs the missing schema steps, in one process at a time.
    ///
    /// The connection must not be in pipeline mode yet.
    func updateSchema(timeout: Duration) throws(PostgreSQLStoreError) {
        guard reported("server_encoding") == "UTF8" else { throw .notUTF8 }
        try requireOwnSchema()
        if try storing({ () throws(PostgreSQLFailure) in try takenSteps() }) == Schema.steps.count {
            return
        }
        let lockTimeout = (timeout * 10).millisecondsRoundedUp
        try storing { () throws(PostgreSQLFailure) in
            try execute(
                "BEGIN; SET LOCAL lock_timeout = \(lockTimeout); SET LOCAL client_min_messages = "
                    + "warning; SELECT pg_advisory_xact_lock(\(Schema.lockClass), 0)")
        }
        let taken = try storing { () throws(PostgreSQLFailure) in try takenSteps() }
        guard taken <= Schema.steps.count else { throw .newer(schema: taken) }
        try storing { () throws(PostgreSQLFailure) in
            for step in Schema.steps.dropFirst(taken) { try execute(step) }
            if taken < Schema.steps.count {
                try execute("UPDATE watchword.steps SET taken = \(Schema.steps.count)")
            }
            try execute("COMMIT")
        }
    }

    /// The number of schema steps that were applied to the database.
    func takenSteps() throws(PostgreSQLFailure) -> Int {
        // Query the system catalogue's tables, because a session's cache (which `to_regclass` uses)
        // may be older than the tables that another process created.
        let exists = try number(
            "SELECT count(*) FROM pg_catalog.pg_class AS class JOIN pg_catalog.pg_namespace AS space "
                + "ON space.oid = class.relnamespace "
                + "WHERE space.nspname = 'watchword' AND class.relname = 'steps'")
        guard exists == 1 else { return 0 }
        return Int(try number("SELECT taken FROM watchword.steps"))
    }

    private func storing<Result>(
        _ body: () throws(PostgreSQLFailure) -> Result
    ) throws(PostgreSQLStoreError) -> Result {
        do { return try body() } catch { throw .store(StoreFailure(error)) }
    }
}
