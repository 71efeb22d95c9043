internal import Cryptography
public import Verification

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
        _ = try prune(.endLapsedAnswers, pruning)
        let credentials = try prune(.pruneCredentials, pruning)
        let tickets = try prune(.pruneTickets, pruning)
        let challenges = try prune(.pruneChallenges, pruning)
        let answers = try prune(.pruneAnswers, pruning)
        let old = try oldEvents(pruning)
        if let end = old.end { try session[.pruneEvents].bind(end).run() }
        for start in old.starts { try session[.updateStart].bind(start).run() }
        return PruningOutcome(
            credentials: credentials, tickets: tickets, challenges: challenges, answers: answers,
            events: old.count, areEventsAltered: old.areAltered)
    }

    private func prune(_ statement: StoreStatement, _ pruning: Pruning) throws(SQLiteFailure) -> Int
    {
        try session[statement].bind(pruning.now).bind(Int64(pruning.limit)).run()
    }

    /// The events to delete: from the oldest up to, but not including, the first one that is recent
    /// enough to keep.
    private func oldEvents(_ pruning: Pruning) throws(SQLiteFailure) -> ExpiredEvents {
        let limit = pruning.eventsBefore == nil ? 0 : pruning.limit
        let first = try session.events(after: 0, limit: limit)
        let chains = try session.chains()
        return try cryptography { () throws(CryptographyFailure) in
            try ExpiredEvents(first, chains: chains, pruning: pruning, key: key)
        }
    }
}
