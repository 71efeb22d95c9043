import Foundation

extension PostgreSQLServer {
    /// Creates a standby that replicates this server.
    ///
    /// - Parameter isSynchronous: whether a commit here waits until the standby has flushed the
    ///   commit to disk. Without its only synchronous standby, a primary completes no commit.
    public func addStandby(isSynchronous: Bool) throws -> PostgreSQLServer {
        let name = "standby_\(UUID().uuidString.prefix(8).lowercased())"
        let standby = try PostgreSQLServer { standby in
            try PostgreSQLPrograms.run(
                "pg_basebackup",
                [
                    "--pgdata", standby.data, "--checkpoint", "fast", "--wal-method", "stream",
                    "--write-recovery-conf", "--no-sync", "--dbname",
                    "host=127.0.0.1 port=\(port) user=postgres application_name=\(name)",
                ])
            try standby.configure([:])
            try standby.launch()
        }
        if isSynchronous {
            try query("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
            try query("SELECT pg_reload_conf()")
        }
        let state = isSynchronous ? "sync" : "async"
        try poll("the standby streams") {
            let found = try query(
                """
                SELECT count(*) FROM pg_stat_replication
                WHERE application_name = '\(name)' AND state = 'streaming'
                AND sync_state = '\(state)'
                """)
            return found == "1"
        }
        return standby
    }

    /// Promotes a standby to primary, and waits until it accepts writes.
    public func promote() throws {
        try query("SELECT pg_promote(true, 60)")
        try poll("the standby becomes a primary") {
            try query("SELECT pg_is_in_recovery()") == "f"
        }
    }

    /// Waits until a standby has replayed the WAL up to `position`.
    public func awaitReplay(of position: String) throws {
        try poll("the standby catches up") {
            try query("SELECT pg_last_wal_replay_lsn() >= '\(position)'") == "t"
        }
    }

    /// Stops replication from this primary.
    ///
    /// Later commits are lost if the primary is lost, unless replication resumes.
    public func withholdReplication() throws {
        for pid in try replicators() { try Postmaster.halt(pid) }
    }

    /// Resumes replication, including the delayed changes.
    public func resumeReplication() throws {
        for pid in try replicators() { kill(pid, SIGCONT) }
    }

    private func replicators() throws -> [pid_t] {
        try query("SELECT pid FROM pg_stat_replication").split(separator: "\n")
            .compactMap { pid_t($0) }
    }
}
