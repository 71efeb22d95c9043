internal import POSIX

extension PostgreSQLSession {
    /// Checks that none of our commits has waited for a standby longer than a statement may take.
    ///
    /// Such a commit holds its connection and its event chain until the standby is back. Cancelling
    /// it would not help: it would become visible although no standby has it. Each further commit
    /// would wait in the same way, until the server accepts no more connections.
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
    /// Commits are waiting for a standby that does not answer.
    static let standby = PostgreSQLFailure(extent: .connection, code: "standby")
}
