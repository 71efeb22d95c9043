internal import Cryptography

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
    /// - Parameters:
    ///   - eventLifetime: milliseconds for which events are kept; `nil` keeps all.
    ///   - key: proves that an event is one that was written.
    public func pruning(
        at now: UnixTime, keepingEventsFor eventLifetime: Int64?, key: AuditKey
    ) async throws(StoreFailure) -> Pruning {
        let isDayBorneOut = try await bearsOut(
            now, keepingEventsFor: Policy.answerLifetime, key: key)
        var horizon: UnixTime?
        if let eventLifetime, try await bearsOut(now, keepingEventsFor: eventLifetime, key: key) {
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
                events: all.events + gone.events,
                areEventsAltered: all.areEventsAltered || gone.areEventsAltered)
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
    /// nothing happened for so long, what is old stays until something has. An event that is not what was
    /// written bears nothing out.
    ///
    /// - Parameters:
    ///   - lifetime: milliseconds for which the things are kept that may go.
    ///   - key: proves that an event is one that was written.
    public func bearsOut(
        _ now: UnixTime, keepingEventsFor lifetime: Int64, key: AuditKey
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
        guard witness.time >= earliest, witness.time <= now.adding(milliseconds: -latest) else {
            return false
        }
        return try await isAuthentic(witness, key)
    }

    /// Whether an event, with its time, was written behind the one before it in its chain.
    private func isAuthentic(
        _ event: ChainedEvent, _ key: AuditKey
    ) async throws(StoreFailure) -> Bool {
        guard event.event?.time == event.time, let digest = try await digest(before: event) else {
            return false
        }
        do throws(CryptographyFailure) {
            let expected = try key.tying(event, behind: digest).digest
            return isEqualInConstantTime(expected.span, event.digest.span)
        } catch { throw StoreFailure(.unavailable, code: error.call.rawValue) }
    }

    /// The digest of the event before this one in its chain, which may be the last one that was pruned.
    private func digest(before event: ChainedEvent) async throws(StoreFailure) -> [UInt8]? {
        // It stands directly before, or where the last commit of the chain ended.
        for position in [event.position - 1, event.behind] where position > 0 {
            let found = try await events(after: position - 1, limit: 1).first
            if let found, found.node == event.node, found.sequence + 1 == event.sequence {
                return found.digest
            }
        }
        let start = try await chains().first { $0.start.node == event.node }?.start
        return start.flatMap { $0.sequence + 1 == event.sequence ? $0.digest : nil }
    }
}
