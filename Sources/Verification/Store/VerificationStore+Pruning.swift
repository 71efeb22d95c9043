extension VerificationStore {
    /// What may be deleted at `now`: the one rule for everything that goes because its time is over.
    ///
    /// A clock that is ahead takes all for old, and what is deleted does not come back when the clock is
    /// put right. So nothing goes by a clock that nothing but itself vouches for: the events have to bear
    /// out what it says (``bearsOut(_:keepingEventsFor:)``), on the scale of the time for which the thing
    /// is kept. Whoever can ask somebody else about the clock, such as the kernel, does so before.
    /// Nothing that is in use goes by a clock at all: a secret that has had its time is denied, and its
    /// credential stays as it is.
    ///
    /// - Parameter eventLifetime: milliseconds for which events are kept; `nil` keeps all.
    public func pruning(
        at now: UnixTime, keepingEventsFor eventLifetime: Int64?
    ) async throws(StoreFailure) -> Pruning {
        let isDayBorneOut = try await bearsOut(now, keepingEventsFor: Policy.answerLifetime)
        var horizon: UnixTime?
        if let eventLifetime, try await bearsOut(now, keepingEventsFor: eventLifetime) {
            horizon = now.adding(milliseconds: -eventLifetime)
        }
        return Pruning(now: isDayBorneOut ? now : nil, eventsBefore: horizon)
    }

    /// Deletes all that has had its time, a little in each call, so that nobody waits long behind it.
    ///
    /// Ends early when its task is cancelled.
    ///
    /// - Returns: what was deleted.
    @discardableResult public func pruneAll(
        _ pruning: Pruning
    ) async throws(StoreFailure) -> PruningOutcome {
        let part = Pruning(now: pruning.now, eventsBefore: pruning.eventsBefore, limit: 250)
        var all = PruningOutcome(credentials: 0, tickets: 0, answers: 0, events: 0)
        while true {
            let gone = try await prune(part)
            all = PruningOutcome(
                credentials: all.credentials + gone.credentials,
                tickets: all.tickets + gone.tickets, answers: all.answers + gone.answers,
                events: all.events + gone.events)
            let counts = [gone.credentials, gone.tickets, gone.answers, gone.events]
            guard counts.contains(where: { $0 >= part.limit }), !Task.isCancelled else {
                return all
            }
        }
    }

    /// Whether the events bear out that it is `now`, so that what is old at that time may go.
    ///
    /// To a clock that leapt ahead everything is old, and events that were written since are no witnesses.
    /// So one has to be there from between one week and four weeks ago; for what is kept for a shorter
    /// time than eight weeks, from between an eighth and the half of that time. A clock that is farther
    /// ahead than that has to stand for the week, or the eighth, before anything goes by it. Where
    /// nothing happened for so long, what is old stays until something has.
    ///
    /// - Parameter lifetime: milliseconds for which the things are kept that may go.
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
