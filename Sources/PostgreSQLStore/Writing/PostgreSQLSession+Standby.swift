internal import POSIX

extension PostgreSQLSession {
    /// Expects that no commit of ours has waited for a standby for longer than a statement may take.
    ///
    /// Such a commit holds its connection, and its chain of events, until the standby is back. Giving it
    /// up would be no way out: it would become visible though no standby has it. One more would wait just
    /// the same, and so on until the server takes no connection any more.
    func expectStandby() throws(PostgreSQLFailure) {
        let query = """
            SELECT count(*) FROM pg_stat_activity
            WHERE wait_event = 'SyncRep' AND usename = current_user
            AND state_change < clock_timestamp() - interval '\(timeout.millisecondsRoundedUp) milliseconds'
            """
        let waiting = try run([.text(query)]).first?
            .first { row throws(PostgreSQLFailure) in try row.requiredInteger() }
        guard waiting == 0 else { throw .standby }
    }
}

extension PostgreSQLFailure {
    /// Commits wait for a standby that does not answer.
    static let standby = PostgreSQLFailure(extent: .connection, code: "standby")
}
