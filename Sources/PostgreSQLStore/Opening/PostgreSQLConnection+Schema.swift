internal import POSIX
internal import Verification

// Brings the tables up to date, whoever comes first.
extension PostgreSQLConnection {
    /// The first connection, about which somebody wants to know why it can't be had.
    static func opening(
        _ address: PostgreSQLAddress
    ) throws(PostgreSQLStoreError) -> PostgreSQLConnection {
        do { return try PostgreSQLConnection(address) } catch { throw .unreachable(error.message) }
    }

    /// Takes the steps that are missing, and no other process at the same time.
    ///
    /// The connection is not in pipeline mode yet.
    func bringUpToDate(timeout: Duration) throws(PostgreSQLStoreError) {
        guard reported("server_encoding") == "UTF8" else { throw .notUTF8 }
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

    /// How many steps the database has had.
    func takenSteps() throws(PostgreSQLFailure) -> Int {
        // By the catalogue's tables: what a session knows by heart (as `to_regclass` asks) may be from
        // before another process made them.
        let isThere = try number(
            "SELECT count(*) FROM pg_catalog.pg_class AS class JOIN pg_catalog.pg_namespace AS space "
                + "ON space.oid = class.relnamespace "
                + "WHERE space.nspname = 'watchword' AND class.relname = 'steps'")
        guard isThere == 1 else { return 0 }
        return Int(try number("SELECT taken FROM watchword.steps"))
    }

    private func storing<Result>(
        _ body: () throws(PostgreSQLFailure) -> Result
    ) throws(PostgreSQLStoreError) -> Result {
        do { return try body() } catch { throw .store(StoreFailure(error)) }
    }
}
