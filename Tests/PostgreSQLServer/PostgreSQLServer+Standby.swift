import Foundation

extension PostgreSQLServer {
    /// Makes a second server that follows this one.
    ///
    /// - Parameter isSynchronous: whether a commit here waits until the standby has it on its disk. A
    ///   primary whose only synchronous standby is gone answers no commit.
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
        try poll("the standby follows") {
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

    /// Makes a primary of a standby, and waits until it takes what is written.
    public func promote() throws {
        try query("SELECT pg_promote(true, 60)")
        try poll("the standby is a primary") {
            try query("SELECT pg_is_in_recovery()") == "f"
        }
    }

    /// Waits until a standby answers what its primary had written up to `position`.
    public func awaitReplay(of position: String) throws {
        try poll("the standby has caught up") {
            try query("SELECT pg_last_wal_replay_lsn() >= '\(position)'") == "t"
        }
    }

    /// Holds back what this primary would tell its standbys: what it commits from now on is lost with
    /// it, unless they are told after all.
    public func withholdReplication() throws {
        for pid in try replicators() { try Postmaster.halt(pid) }
    }

    /// Tells the standbys what was held back.
    public func resumeReplication() throws {
        for pid in try replicators() { kill(pid, SIGCONT) }
    }

    private func replicators() throws -> [pid_t] {
        try query("SELECT pid FROM pg_stat_replication").split(separator: "\n")
            .compactMap { pid_t($0) }
    }
}
