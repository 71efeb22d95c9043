extension ConnectionPool {
    /// What doing some jobs came to.
    struct Verdict {
        /// Whether the connection is of no more use.
        let isLost: Bool
        /// Whether that is because nobody answered in time, so that others would wait in vain, too.
        var isSilent = false
        /// What is to be done once more, before all that came later.
        var again: [Job] = []
    }

    /// What the pool's connections do.
    struct Work: Sendable {
        /// The most threads, each with a connection once there is something for it to do.
        let size: Int
        /// Makes a connection; the argument says whether somebody waits for it.
        let open: @Sendable (Bool) throws(PostgreSQLFailure) -> Connected
        /// Whether a connection stands that nobody used for a while.
        let stands: @Sendable (Connected) -> Bool
        /// Whether somebody answers on a connection, asked when nobody did on another one.
        let answers: @Sendable (Connected) -> Bool
        /// Takes from the front what can be done in one go.
        let take: @Sendable (inout [Job]) -> [Job]
        /// Does it.
        let perform: @Sendable (Connected, [Job]) -> Verdict
        /// Tells a job that it will not be done.
        let refuse: @Sendable (Job, PostgreSQLFailure) -> Void
    }
}
