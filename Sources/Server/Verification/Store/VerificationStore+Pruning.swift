internal import WatchwordCryptography

extension VerificationStore {
    /// What may be deleted at `now`: the single rule for everything that is deleted because of its
    /// age.
    ///
    /// If the clock is ahead, everything looks old, and deleted data does not come back when the
    /// clock is corrected. Nothing is therefore deleted unless the events confirm the time
    /// (``confirmsClock(_:keepingEventsFor:key:)``), apart from challenges, with a tolerance that depends on the lifetime
    /// of the data. A caller that can also check the clock in another way, for example by asking
    /// the kernel, does so first. Nothing that is in use is ever deleted because of its age: an
    /// expired secret is denied, and its credential stays unchanged.
    ///
    /// - Parameters:
    ///   - eventLifetime: milliseconds for which events are kept; `nil` keeps all.
    ///   - key: proves that an event is authentic.
    public func pruning(
        at now: UnixTime, keepingEventsFor eventLifetime: Int64?, key: AuditKey
    ) async throws(StoreFailure) -> Pruning {
        let isDayConfirmed = try await confirmsClock(
            now, keepingEventsFor: Policy.answerLifetime, key: key)
        var horizon: UnixTime?
        if let eventLifetime,
            try await confirmsClock(now, keepingEventsFor: eventLifetime, key: key)
        {
            horizon = now.adding(milliseconds: -eventLifetime)
        }
        return Pruning(
            now: isDayConfirmed ? now : nil, challengesAt: Pruning.challengeHorizon(at: now),
            eventsBefore: horizon)
    }

    /// Deletes everything that has expired, in small batches, so that other commits never wait for
    /// long.
    ///
    /// Ends early if its task is cancelled.
    ///
    /// - Returns: the number of deleted rows.
    @discardableResult public func pruneAll(
        _ pruning: Pruning
    ) async throws(StoreFailure) -> PruningOutcome {
        let part = Pruning(
            now: pruning.now, challengesAt: pruning.challengesAt,
            eventsBefore: pruning.eventsBefore, limit: 250)
        var all = PruningOutcome(credentials: 0, tickets: 0, challenges: 0, answers: 0, events: 0)
        while true {
            let gone = try await prune(part)
            all = PruningOutcome(
                credentials: all.credentials + gone.credentials,
                tickets: all.tickets + gone.tickets, challenges: all.challenges + gone.challenges,
                answers: all.answers + gone.answers, events: all.events + gone.events,
                areEventsAltered: all.areEventsAltered || gone.areEventsAltered)
            let counts = [
                gone.credentials, gone.tickets, gone.challenges, gone.answers, gone.events,
            ]
            guard counts.contains(where: { $0 >= part.limit }), !Task.isCancelled else {
                return all
            }
        }
    }

    /// Whether the events confirm that the current time is `now`, so that data that is old at that
    /// time may be deleted.
    ///
    /// If the clock jumped ahead, everything looks old, and events written since then prove
    /// nothing. There must therefore be an event from between one and four weeks ago; for data with
    /// a lifetime of less than eight weeks, from between an eighth and a half of the lifetime ago.
    /// If the clock is further ahead than that, it must run for a week, or for an eighth of the
    /// lifetime, before anything is deleted because of it. If there was no event in the required
    /// period, old data is kept until a newer event is old enough. An event that is not authentic
    /// confirms nothing.
    ///
    /// - Parameters:
    ///   - lifetime: the lifetime of the data, in milliseconds.
    ///   - key: proves that an event is authentic.
    public func confirmsClock(
        _ now: UnixTime, keepingEventsFor lifetime: Int64, key: AuditKey
    ) async throws(StoreFailure) -> Bool {
        let latest = min(7 * 86_400_000, lifetime / 8)
        let earliest = now.adding(milliseconds: -4 * latest)
        // Binary search for the first event at or after `earliest`. Events are ordered by time,
        // apart from differences between clocks.
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

    /// Whether an event with its time was chained to the previous event of its chain.
    private func isAuthentic(
        _ event: ChainedEvent, _ key: AuditKey
    ) async throws(StoreFailure) -> Bool {
        guard event.event?.time == event.time, let digest = try await digest(before: event) else {
            return false
        }
        let expected = key.tying(event, behind: digest).digest
        return isEqualInConstantTime(expected.span, event.digest.span)
    }

    /// The digest of the previous event in the chain, which may be the last pruned event.
    private func digest(before event: ChainedEvent) async throws(StoreFailure) -> [UInt8]? {
        // The previous event is in the same commit, at the preceding position, or it is the last
        // event of the chain's previous commit.
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

extension Pruning {
    /// The time by which a challenge must have expired to be deleted at `now`: a minute ago.
    ///
    /// The events need not confirm the clock. A challenge that is missing only makes somebody try
    /// again, and anybody can add challenges, so they must not pile up. The minute permits clocks
    /// that differ.
    public static func challengeHorizon(at now: UnixTime) -> UnixTime {
        now.adding(milliseconds: -60_000)
    }
}
