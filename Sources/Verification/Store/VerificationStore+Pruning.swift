extension VerificationStore {
    /// Takes away all that has had its time, a little in each call, so that nobody waits long behind it.
    ///
    /// Ends early when its task is cancelled.
    ///
    /// - Parameter eventsBefore: events from before this moment go; nothing keeps all.
    /// - Returns: what was taken away.
    @discardableResult public func pruneAll(
        now: UnixTime, eventsBefore: UnixTime? = nil
    ) async throws(StoreFailure) -> PruningOutcome {
        let pruning = Pruning(now: now, eventsBefore: eventsBefore, limit: 250)
        var all = PruningOutcome(credentials: 0, tickets: 0, answers: 0, events: 0)
        while true {
            let gone = try await prune(pruning)
            all = PruningOutcome(
                credentials: all.credentials + gone.credentials,
                tickets: all.tickets + gone.tickets, answers: all.answers + gone.answers,
                events: all.events + gone.events)
            let counts = [gone.credentials, gone.tickets, gone.answers, gone.events]
            guard counts.contains(where: { $0 >= pruning.limit }), !Task.isCancelled else {
                return all
            }
        }
    }
    /// Whether the events bear out that it is `now`, so that old ones may go by that time.
    ///
    /// To a clock that leapt ahead all events are old, and those that were written since are no witnesses.
    /// So one has to be there from between one week and four weeks ago; where events are kept for a
    /// shorter time than eight weeks, from between an eighth and the half of it. A clock that is
    /// farther ahead than that has to stand for the week, or the eighth, before anything goes by it. Where
    /// nothing happened for so long, old events stay until something has.
    ///
    /// - Parameter lifetime: milliseconds for which events are kept.
    public func bearsOut(
        _ now: UnixTime, keepingEventsFor lifetime: Int64
    ) async throws(StoreFailure) -> Bool {
        let latest = min(7 * 86_400_000, lifetime / 8)
        let earliest = now.adding(milliseconds: -4 * latest)
        // The first event since then, by halves: they stand in the order of their times, but for what
        // clocks differ by.
        var (low, high): (UInt64, UInt64) = (0, UInt64(Int64.max))
        while low < high {
            let middle = low + (high - low) / 2
            if let found = try await events(after: middle, limit: 1).first, found.time < earliest {
                low = found.position
            } else {
                high = middle
            }
        }
        guard let witness = try await events(after: low, limit: 1).first else { return false }
        return witness.time <= now.adding(milliseconds: -latest)
    }
}
