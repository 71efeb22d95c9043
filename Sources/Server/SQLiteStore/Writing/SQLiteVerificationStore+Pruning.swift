public import Verification
internal import WatchwordCryptography

extension SQLiteVerificationStore {
    /// Deletes expired rows and old events in one short transaction on the writer.
    public func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        try await committer.perform { writer throws(StoreFailure) in
            do throws(SQLiteFailure) {
                return try writer.transaction { () throws(SQLiteFailure) in
                    try writer.prune(pruning)
                }
            } catch {
                throw StoreFailure(error)
            }
        }
    }
}

extension DatabaseWriter {
    fileprivate func prune(_ pruning: Pruning) throws(SQLiteFailure) -> PruningOutcome {
        let (now, limit) = (pruning.now, pruning.limit)
        _ = try prune(.endLapsedAnswers, at: now, limit)
        let credentials = try prune(.pruneCredentials, at: now, limit)
        let tickets = try prune(.pruneTickets, at: now, limit)
        let challenges = try prune(.pruneChallenges, at: pruning.challengesAt, limit)
        let answers = try prune(.pruneAnswers, at: now, limit)
        let old = try oldEvents(pruning)
        if let end = old.end { try session[.pruneEvents].bind(end).run() }
        for start in old.starts { try session[.updateStart].bind(start).run() }
        return PruningOutcome(
            credentials: credentials, tickets: tickets, challenges: challenges, answers: answers,
            events: old.count, areEventsAltered: old.areAltered)
    }

    private func prune(
        _ statement: StoreStatement, at time: UnixTime?, _ limit: Int
    ) throws(SQLiteFailure) -> Int {
        try session[statement].bind(time).bind(Int64(limit)).run()
    }

    /// The events to delete: from the oldest up to, but not including, the first one that is recent
    /// enough to keep.
    private func oldEvents(_ pruning: Pruning) throws(SQLiteFailure) -> ExpiredEvents {
        let limit = pruning.eventsBefore == nil ? 0 : pruning.limit
        let first = try session.events(after: 0, limit: limit)
        let chains = try session.chains()
        return ExpiredEvents(first, chains: chains, pruning: pruning, key: key)
    }
}
