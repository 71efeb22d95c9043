internal import SQLStore
internal import Verification
internal import WatchwordSystem

// `@unchecked Sendable` is safe: one thread creates a session and hands it over completely; the
// pools ensure that only one thread uses it at a time.
/// A connection with our settings and statements, to a database that has lost no acknowledged
/// commit.
final class PostgreSQLSession: @unchecked Sendable {
    let connection: PostgreSQLConnection
    /// How long a statement may take.
    let timeout: Duration
    /// Compares the clocks; `nil` for a session that makes no decisions.
    let clock: ClockComparison?

    /// The values that all sessions of a store share.
    struct Context: Sendable {
        let address: PostgreSQLAddress
        /// How long a statement may take.
        let timeout: Duration
        var known = AcknowledgedCheckpoints()
        /// Compares the clocks; `nil` for sessions that make no decisions.
        var clock: ClockComparison?
    }

    /// Connects, sets up the session, and checks that the database still contains every
    /// acknowledged commit.
    ///
    /// All statements are prepared, which fails if a table, a column or a function is missing. An
    /// audit prepares each statement at its first use.
    ///
    /// - Parameters:
    ///   - failsFast: whether to fail quickly, because a caller is waiting.
    ///   - audited: the number of schema steps that were applied to a database that is only
    ///     audited, perhaps one of an earlier release; `nil` for a session of this release.
    init(
        _ context: Context, failsFast: Bool = false, auditing audited: Int? = nil
    ) throws(StoreFailure) {
        timeout = context.timeout
        clock = context.clock
        let address = context.address
        let step = audited ?? PostgreSQLDialect.steps.count
        do throws(SQLStoreError) {
            connection = try PostgreSQLConnection(
                failsFast ? address.failsFast : address, PostgreSQLDialect(step: step))
        } catch {
            throw .broken
        }
        try connection.enterPipelineMode()
        let settings = Self.settings(timeout: timeout).map { PipelineCommand.text($0) }
        let sent = clock?.reading()
        let results = try connection.run(
            settings + [.text("SELECT taken FROM steps"), ClockComparison.query],
            preparing: audited == nil ? Self.statements : [], timeout: timeout * 3
        ).results()
        // A newer version on a different machine may have migrated the tables in the meantime.
        let taken: Int64? = try results[settings.count].first()
        guard taken == Int64(step) else { throw .newer }
        if let clock, let sent { try clock.compare(results[settings.count + 1].rows, since: sent) }
        try context.known.compare(with: self)
    }

    private static let statements = StoreStatement.allCases.filter {
        $0.sql(in: PostgreSQLDialect()) != nil
    }

    /// Whether the connection is open, as far as is known.
    var stands: Bool { connection.stands }

    /// Whether the server answers.
    ///
    /// The timeout is short, because another connection has already timed out.
    var answers: Bool {
        do throws(StoreFailure) {
            _ = try connection.run([.text("SELECT 1")], timeout: max(timeout / 4, .milliseconds(1)))
            return true
        } catch {
            return false
        }
    }

    /// Checks that none of our commits has waited for a standby longer than a statement may take.
    ///
    /// Such a commit holds its connection and its event chain until the standby is back. Cancelling
    /// the wait would not help: the commit would become visible although no standby has it. Each
    /// later commit would also wait, until the server accepts no more connections.
    func expectStandby() throws(StoreFailure) {
        let query = """
            SELECT count(*) FROM pg_stat_activity
            WHERE wait_event = 'SyncRep' AND usename = current_user
            AND state_change < clock_timestamp() - interval '\(timeout.millisecondsRoundedUp) milliseconds'
            """
        let waiting: Int64? = try run([.text(query)]).first?.first()
        guard waiting == 0 else { throw .standby }
    }

    /// Runs commands that must all succeed.
    func run(_ commands: [PipelineCommand]) throws(StoreFailure) -> [PostgreSQLResult] {
        try connection.run(commands, timeout: timeout * 3).results()
    }

    func run(
        _ statement: StoreStatement, _ arguments: StatementArguments = StatementArguments()
    ) throws(StoreFailure) -> PostgreSQLResult {
        guard let result = try run([.run(statement, arguments)]).first else { throw .broken }
        return result
    }

    /// The settings that every session starts with.
    ///
    /// - Durability is never weaker than the server's own setting; a stronger setting is kept.
    /// - The server's timeouts are shorter than the client's, so that the server itself reports a
    ///   timeout.
    /// - Names never resolve to other users' tables or functions.
    /// - Rows are always found through indexes, in the order of the request, however small the
    ///   tables are; this prevents deadlocks between processes.
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

extension PostgreSQLSession: StoreSnapshot {
    var step: Int { connection.dialect.step }

    func all<Value>(
        _ statement: StoreStatement, _ arguments: [StoredValue],
        _ read: (inout RowReader) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> [Value] {
        try run(statement, StatementArguments(arguments)).all(read)
    }
}
