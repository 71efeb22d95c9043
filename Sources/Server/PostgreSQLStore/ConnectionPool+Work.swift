extension ConnectionPool {
    /// The result of running some jobs.
    struct Verdict {
        /// Whether the connection can no longer be used.
        let isLost: Bool
        /// Whether the server did not answer in time, so that other jobs would time out as well.
        var isUnresponsive = false
        /// The jobs to repeat before all later ones.
        ///
        /// If the server did not answer, the pool refuses them instead, because their callers have
        /// already waited for the full timeout. It does so only after it has noted the timeout, so
        /// that the callers' next calls fail immediately.
        var again: [Job] = []
    }

    /// The operations of the pool's connections.
    struct Work: Sendable {
        /// The number of threads; each opens a connection when there is work for it.
        let size: Int
        /// Opens a connection; the argument is whether a caller is waiting for it.
        let open: @Sendable (Bool) throws(PostgreSQLFailure) -> Connected
        /// Whether an idle connection is still open, as far as is known.
        let stands: @Sendable (Connected) -> Bool
        /// Whether the server answers on a connection; called after a timeout on another one.
        let answers: @Sendable (Connected) -> Bool
        /// Removes from the front of the queue the jobs that can run together.
        let take: @Sendable (inout [Job]) -> [Job]
        /// Runs the jobs.
        let perform: @Sendable (Connected, [Job]) -> Verdict
        /// Tells a job that it will not run.
        let refuse: @Sendable (Job, PostgreSQLFailure) -> Void
    }
}
