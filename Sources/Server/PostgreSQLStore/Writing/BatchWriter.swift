internal import SQLStore
internal import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

// `@unchecked Sendable` is safe: after the handover, only the connection's thread uses it.
/// A connection that commits, with its lease of an event chain.
final class BatchWriter: @unchecked Sendable {
    typealias Verdict = ConnectionPool<BatchWriter, CommitJob>.Verdict

    let session: PostgreSQLSession
    private let key: AuditKey
    private let known: AcknowledgedCheckpoints
    private var lease: ChainLease

    init(
        _ session: PostgreSQLSession, key: AuditKey, known: AcknowledgedCheckpoints
    ) throws(StoreFailure) {
        self.session = session
        self.key = key
        self.known = known
        try session.expectStandby()
        lease = try ChainLease(on: session, key: key, known: known)
    }

    /// The result of one attempt at a transaction.
    private enum Ending {
        case done
        /// The conditions of these members do not hold; nothing was committed.
        case conflict(Set<Int>)
        /// The stored end of the chain differs from the end that this writer left.
        case leaseLost
        /// The transaction failed, and nothing was committed.
        case failed(RefusedCommand)
    }

    /// Commits all members in one transaction; each member's changes take effect completely or not
    /// at all.
    ///
    /// A member whose condition does not hold, or that fails on its own, does not affect the
    /// others.
    ///
    /// - Returns: whether the connection can no longer be used, and why.
    func commit(_ jobs: [CommitJob]) -> Verdict {
        var members: [(number: Int, job: CommitJob)] = []
        for (number, job) in jobs.enumerated() {
            if job.changes.allSatisfy(\.change.fits) {
                members.append((number, job))
            } else {
                job.finish(.failure(.outOfRange))
            }
        }
        var retries = Retries(timeout: session.timeout)
        while !members.isEmpty {
            do throws(StoreFailure) {
                switch try attempt(members) {
                case .done:
                    for (_, job) in members { job.finish(.success(.done)) }
                    members = []
                case .conflict(let losers):
                    for (number, job) in members where losers.contains(number) {
                        job.finish(.success(.conflict))
                    }
                    members.removeAll { losers.contains($0.number) }
                case .leaseLost:
                    guard retries.wait() else { throw StoreFailure.chain }
                    try takeAnotherLease()
                case .failed(let refused) where refused.failure.isTransient && retries.wait():
                    continue
                case .failed(let refused):
                    // One member may have made the transaction fail; the others can still succeed
                    // separately.
                    if refused.failure.isOfOneMember, members.count > 1 {
                        return commitEachAlone(members.map(\.job))
                    }
                    for (_, job) in members { job.finish(refused.outcome) }
                    members = []
                }
            } catch {
                if error == .timedOut {
                    return Verdict(isLost: true, isUnresponsive: true, again: members.map(\.job))
                }
                for (_, job) in members { job.finish(.failure(error)) }
                return Verdict(isLost: true)
            }
        }
        return Verdict(isLost: false)
    }

    /// Sends everything in one pipeline.
    ///
    /// It is one transaction, which the server ends at the end of the pipeline.
    ///
    /// - Throws: if the connection is lost; it is then unknown whether the transaction was
    ///   committed.
    private func attempt(
        _ members: [(number: Int, job: CommitJob)]
    ) throws(StoreFailure) -> Ending {
        let plan = CommitPlan(members)
        var commands = plan.commands
        var chain = lease.chain
        if !plan.events.isEmpty || !plan.dummyEvents.isEmpty {
            commands.append(lease.append(plan.events, to: &chain, and: plan.dummyEvents))
        }
        let outcomes = try session.connection.run(commands, timeout: session.timeout * 3)
        for outcome in outcomes {
            if case .failed(let refused) = outcome { return try ending(refused) }
        }
        // The wait for the standby was cancelled: the commit is durable here, but perhaps not on
        // the standby.
        guard !session.connection.hasWarning else { throw .unconfirmed }
        if !plan.events.isEmpty {
            guard case .done(let last)? = outcomes.last else { throw .broken }
            try acknowledge(chain, last)
        }
        return .done
    }
}

// Appends to the event chain within a transaction.
extension BatchWriter {
    private func acknowledge(
        _ chain: EventChain, _ last: PostgreSQLResult
    ) throws(StoreFailure) {
        let count = Int(clamping: chain.sequence - lease.chain.sequence)
        guard count > 0, let position: UInt64 = try last.first() else { throw .invalidRow }
        let head = chain.head()
        known.acknowledge(
            AcknowledgedCheckpoint(mark: head, position: position), events: UInt64(count))
        lease.move(to: chain, at: position)
    }

    private func takeAnotherLease() throws(StoreFailure) {
        lease = try ChainLease(on: session, key: key, known: known)
    }
}

// Handles a transaction that failed.
extension BatchWriter {
    private func ending(_ refused: RefusedCommand) throws(StoreFailure) -> Ending {
        switch refused.failure.code {
        case "WW409":
            let losers = Set(refused.detail.split(separator: ",").compactMap { Int($0) })
            // If no member lost, the same transaction would be repeated forever.
            guard !losers.isEmpty else { throw .invalidRow }
            return .conflict(losers)
        case "WW410": return .leaseLost
        default: return .failed(refused)
        }
    }

    private func commitEachAlone(_ jobs: [CommitJob]) -> Verdict {
        var verdict = Verdict(isLost: false)
        for job in jobs {
            if verdict.isLost {
                job.finish(.failure(.broken))
            } else {
                verdict = commit([job])
            }
        }
        return verdict
    }
}

extension RefusedCommand {
    /// The outcome of a member that failed alone.
    fileprivate var outcome: Result<CommitOutcome, StoreFailure> {
        // A violated uniqueness constraint means that the change's condition does not hold. This
        // does not apply to the writer's own chain, to which no other process appends.
        failure.isUniqueness && !["chains", "events"].contains(table)
            ? .success(.conflict) : .failure(failure)
    }
}

/// The schedule for retrying a transaction that the database aborted in favour of another one.
struct Retries {
    private let deadline: ContinuousClock.Instant
    private var delay = Duration.milliseconds(2)
    private let pause = Semaphore()

    /// - Parameter timeout: how long the transaction may be retried, starting now.
    init(timeout: Duration) { deadline = .now + timeout }

    /// Waits before the next attempt: longer each time, with a random factor so that processes do
    /// not retry in step.
    ///
    /// - Returns: false if no time is left for another attempt.
    mutating func wait() -> Bool {
        let chosen = delay * Double.random(in: 0.5...1)
        guard ContinuousClock.Instant.now + chosen < deadline else { return false }
        pause.wait(timeout: chosen)
        delay = min(delay * 2, .milliseconds(200))
        return true
    }
}
