internal import Cryptography
public import Verification

extension SQLiteStore {
    /// Deletes expired rows and old events in one short transaction on the writer.
    public func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        try await committer.perform { writer throws(StoreFailure) in
            do throws(MemberFailure) {
                return try writer.transaction { () throws(MemberFailure) in
                    try writer.prune(pruning)
                }
            } catch {
                throw error.storeFailure
            }
        }
    }
}

extension DatabaseWriter {
    fileprivate func prune(_ pruning: Pruning) throws(MemberFailure) -> PruningOutcome {
        _ = try prune(.endLapsedAnswers, pruning)
        let credentials = try prune(.pruneCredentials, pruning)
        let tickets = try prune(.pruneTickets, pruning)
        let answers = try prune(.pruneAnswers, pruning)
        let old = try oldEvents(pruning)
        try database { () throws(SQLiteFailure) in
            if let end = old.end { try session[.pruneEvents].bind(end).run() }
            for start in old.starts { try session[.updateStart].bind(start).run() }
        }
        return PruningOutcome(
            credentials: credentials, tickets: tickets, answers: answers, events: old.count,
            areEventsAltered: old.areAltered)
    }

    private func prune(_ statement: StoreStatement, _ pruning: Pruning) throws(MemberFailure) -> Int
    {
        try database { () throws(SQLiteFailure) in
            try session[statement].bind(pruning.now).bind(Int64(pruning.limit)).run()
        }
    }

    /// The events to delete: from the oldest up to, but not including, the first one that is recent
    /// enough to keep.
    private func oldEvents(_ pruning: Pruning) throws(MemberFailure) -> ExpiredEvents {
        let limit = pruning.eventsBefore == nil ? 0 : pruning.limit
        let (first, chains) = try database { () throws(SQLiteFailure) in
            (try session.events(after: 0, limit: limit), try session.chains())
        }
        return try cryptography { () throws(CryptographyFailure) in
            try ExpiredEvents(first, chains: chains, pruning: pruning, key: key)
        }
    }
}
