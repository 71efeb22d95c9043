internal import Cryptography
public import Verification

extension SQLiteStore {
    /// Takes away what has had its time, in one short transaction of the writer's.
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
        let events = try oldEvents(pruning)
        for index in events.indices {
            // Each chain begins behind its last event that goes.
            let isLast = index + 1 == events.count || events[index + 1].node != events[index].node
            if isLast, let before = pruning.eventsBefore {
                try beginChain(
                    behind: events[index], PrunedEvents(before: before, at: pruning.now))
            }
        }
        return PruningOutcome(
            credentials: credentials, tickets: tickets, answers: answers, events: events.count)
    }

    private func prune(_ statement: StoreStatement, _ pruning: Pruning) throws(MemberFailure) -> Int
    {
        try database { () throws(SQLiteFailure) in
            try session[statement].bind(pruning.now).bind(Int64(pruning.limit)).run()
        }
    }

    /// The events that go: from the front, up to the first one that is young enough to stay.
    private func oldEvents(_ pruning: Pruning) throws(MemberFailure) -> [ChainedEvent] {
        guard let end = pruning.eventsBefore else { return [] }
        let first = try database { () throws(SQLiteFailure) in
            try session.events(after: 0, limit: pruning.limit)
        }
        return Array(first.prefix { $0.time < end })
    }

    private func beginChain(
        behind last: ChainedEvent, _ pruning: PrunedEvents
    ) throws(MemberFailure) {
        let start = try cryptography { () throws(CryptographyFailure) in
            try EventChain.start(behind: last, pruning: pruning, key: key)
        }
        _ = try database { () throws(SQLiteFailure) in
            try session[.pruneEvents].bind(last.position).run()
            try session[.updateStart].bind(start).run()
        }
    }
}
