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
}
