internal import POSIX
internal import Verification

// Sendable by hand: a session is made by one thread and handed on whole; the pools see to it that one
// thread at a time has it.
/// A connection that is set up for one kind of work, with its statements prepared.
final class PostgreSQLSession: @unchecked Sendable {
    let connection: PostgreSQLConnection
    /// How long a statement may take.
    let timeout: Duration

    /// Connects, sets the session up, and looks whether the database still has what it acknowledged.
    ///
    /// - Parameter inHaste: whether somebody waits for it who is better served by a word soon.
    init(
        _ address: PostgreSQLAddress, _ statements: [StoreStatement], timeout: Duration,
        known: KnownHeads, inHaste: Bool = false
    ) throws(PostgreSQLFailure) {
        self.timeout = timeout
        do { connection = try PostgreSQLConnection(inHaste ? address.inHaste : address) } catch {
            throw .broken
        }
        try connection.enterPipelineMode()
        let settings = Self.settings(timeout: timeout).map { PipelineCommand.text($0) }
        let prepared = statements.map { PipelineCommand.prepare($0) }
        let results = try connection.run(
            settings + [.text("SELECT taken FROM steps")] + prepared, timeout: timeout * 3
        ).results()
        // A newer program may have been put in place on another machine since.
        let taken = try results[settings.count]
            .first { row throws(PostgreSQLFailure) in try row.requiredInteger() }
        guard taken == Int64(Schema.steps.count) else { throw .newer }
        try known.compare(with: self)
    }

    /// Whether it stands as far as is known.
    var stands: Bool { connection.stands }

    /// Whether somebody answers; asked when nobody did elsewhere, so a short silence is enough.
    var answers: Bool {
        do throws(PostgreSQLFailure) {
            _ = try connection.run([.text("SELECT 1")], timeout: max(timeout / 4, .milliseconds(1)))
            return true
        } catch {
            return false
        }
    }

    /// Runs commands that all must be done.
    func run(_ commands: [PipelineCommand]) throws(PostgreSQLFailure) -> [PostgreSQLResult] {
        try connection.run(commands, timeout: timeout * 3).results()
    }

    /// Runs one statement.
    func run(
        _ statement: StoreStatement, _ arguments: StatementArguments
    ) throws(PostgreSQLFailure) -> PostgreSQLResult {
        guard let result = try run([.run(statement, arguments)]).first else { throw .broken }
        return result
    }

    /// What every session says first.
    ///
    /// - Durability is never less than the server's own; who wishes for more keeps it.
    /// - Time-outs are shorter than what the other side waits, so that a lock is given up with a word.
    /// - Nobody else's table or function is found by our names.
    /// - Rows are found by their indexes, in the order in which they are asked for, however small the
    ///   tables are: that is what keeps two processes from locking them crosswise.
    static func settings(timeout: Duration) -> [String] {
        let lockTimeout = max(timeout / 2, .milliseconds(1))
        return [
            """
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
            """
        ]
            + [
                ("statement_timeout", "\(timeout.millisecondsRoundedUp)"),
                ("lock_timeout", "\(lockTimeout.millisecondsRoundedUp)"),
                (
                    "idle_in_transaction_session_timeout",
                    "\((timeout * 2).millisecondsRoundedUp)"
                ),
                ("default_transaction_isolation", "'read committed'"),
                ("search_path", "pg_catalog, watchword, pg_temp"),
                ("client_min_messages", "warning"), ("bytea_output", "hex"),
                ("jit", "off"), ("plan_cache_mode", "force_generic_plan"),
                ("enable_hashjoin", "off"), ("enable_mergejoin", "off"), ("enable_seqscan", "off"),
            ].map { "SET \($0.0) = \($0.1)" }
    }
}

extension PostgreSQLFailure {
    /// The tables are another version's.
    static let newer = PostgreSQLFailure(extent: .connection, code: "newer")
}
