internal import Cryptography
internal import POSIX
internal import Verification

// Sendable by hand: the thread of its connection alone uses it, once it was handed over.
/// A connection that commits, with its lease on a chain of events.
final class BatchWriter: @unchecked Sendable {
    typealias Verdict = ConnectionPool<BatchWriter, CommitJob>.Verdict

    let session: PostgreSQLSession
    private let key: AuditKey
    private let known: KnownHeads
    private var lease: ChainLease
    /// Whether a transaction failed and is not rolled back yet.
    private var isInFailed = false

    init(
        _ session: PostgreSQLSession, key: AuditKey, known: KnownHeads
    ) throws(PostgreSQLFailure) {
        self.session = session
        self.key = key
        self.known = known
        try session.expectStandby()
        lease = try ChainLease(on: session, key: key, known: known)
    }

    /// How a try at a transaction ended.
    private enum Ending {
        case done
        /// The conditions of these members do not hold; nothing is done.
        case conflict(Set<Int>)
        /// The chain's end is not where it was left.
        case leaseLost
        /// Nothing is done.
        case failed(PostgreSQLFailure)
    }

    /// Does each member's changes or none of them, all in one transaction.
    ///
    /// A member whose condition does not hold, or that fails by itself, leaves the others as they are.
    ///
    /// - Returns: whether the connection is of no more use, and why.
    func commit(_ jobs: [CommitJob]) -> Verdict {
        var members: [(number: Int, job: CommitJob)] = []
        for (number, job) in jobs.enumerated() {
            if job.changes.allSatisfy(\.fits) {
                members.append((number, job))
            } else {
                job.finish(.failure(StoreFailure(.outOfRange)))
            }
        }
        var retries = Retries(patience: session.patience)
        while !members.isEmpty {
            do throws(PostgreSQLFailure) {
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
                    guard retries.wait() else { throw PostgreSQLFailure.chain }
                    try takeAnotherLease()
                case .failed(let failure) where failure.isPassing && retries.wait(): continue
                case .failed(let failure):
                    // What fails may be one of them; alone, the others still succeed.
                    if failure.isOfOneMember, members.count > 1 {
                        return commitEachAlone(members.map(\.job))
                    }
                    for (_, job) in members { job.finish(failure.answer) }
                    members = []
                }
            } catch {
                for (_, job) in members { job.finish(.failure(StoreFailure(error))) }
                return Verdict(isLost: true, isSilent: error == .timedOut)
            }
        }
        return Verdict(isLost: rollBack())
    }

    /// - Throws: when the connection is lost, and whether the transaction is done is not known.
    private func attempt(
        _ members: [(number: Int, job: CommitJob)]
    ) throws(PostgreSQLFailure) -> Ending {
        let plan = CommitPlan(members)
        var commands: [PipelineCommand] = isInFailed ? [.text("ROLLBACK")] : []
        isInFailed = false
        commands.append(.text("BEGIN ISOLATION LEVEL READ COMMITTED"))
        commands += plan.commands
        var (chain, place) = (lease.chain, commands.count)
        if !plan.events.isEmpty { commands.append(try lease.append(plan.events, to: &chain)) }
        commands.append(.text("COMMIT"))
        let outcomes = try session.connection.run(commands, patience: 3 * session.patience)
        for outcome in outcomes {
            if case .failed(let failure) = outcome {
                // When it is COMMIT that fails, there is nothing to roll back, and ROLLBACK only warns.
                isInFailed = true
                return try ending(failure)
            }
        }
        guard case .done(let result, let warnings)? = outcomes.last, result.tag == "COMMIT" else {
            throw .broken
        }
        // A wait for the standby that somebody cancelled: done here, and perhaps nowhere else.
        guard warnings.isEmpty else { throw .unconfirmed }
        if !plan.events.isEmpty {
            guard case .done(let positions, _) = outcomes[place] else { throw .broken }
            try acknowledge(chain, positions)
        }
        return .done
    }
}

// The chain of events, in a transaction.
extension BatchWriter {
    private func acknowledge(
        _ chain: EventChain, _ positions: PostgreSQLResult
    ) throws(PostgreSQLFailure) {
        let count = Int(clamping: chain.sequence - lease.chain.sequence)
        guard positions.count == count, count > 0 else { throw .strangeRow }
        var last = positions.row(count - 1)
        let position = try last.unsigned()
        let head = try cryptography { () throws(CryptographyFailure) in try chain.head() }
        known.acknowledge(ChainEnd(mark: head, position: position), events: UInt64(count))
        lease.move(to: chain)
    }

    private func takeAnotherLease() throws(PostgreSQLFailure) {
        if rollBack() { throw .broken }
        lease = try ChainLease(on: session, key: key, known: known)
    }
}

// What follows a transaction that failed.
extension BatchWriter {
    private func ending(_ failure: PostgreSQLFailure) throws(PostgreSQLFailure) -> Ending {
        switch failure.code {
        case "WW409":
            let losers = Set(failure.detail.split(separator: ",").compactMap { Int($0) })
            // Without them the same would be tried for ever.
            guard !losers.isEmpty else { throw .strangeRow }
            return .conflict(losers)
        case "WW410": return .leaseLost
        default: return .failed(failure)
        }
    }

    private func commitEachAlone(_ jobs: [CommitJob]) -> Verdict {
        var verdict = Verdict(isLost: false)
        for job in jobs {
            if verdict.isLost {
                job.finish(.failure(StoreFailure(.broken)))
            } else {
                verdict = commit([job])
            }
        }
        return verdict
    }

    /// Ends a transaction that failed.
    ///
    /// - Returns: whether the connection is of no more use.
    private func rollBack() -> Bool {
        guard isInFailed else { return false }
        isInFailed = false
        do {
            _ = try session.run([.text("ROLLBACK")])
            return false
        } catch {
            return true
        }
    }
}

extension PostgreSQLFailure {
    /// It was done, and whether it will be remembered is not known.
    static let unconfirmed = PostgreSQLFailure(extent: .connection, code: "unconfirmed")

    /// Whether what one row holds may be the reason.
    var isOfOneMember: Bool {
        ["22", "23", "54"].contains { code.hasPrefix($0) } || code == "53100"
    }

    /// What a member is told that failed alone.
    fileprivate var answer: Result<CommitOutcome, StoreFailure> {
        // What is unique and there already is the condition that did not hold; but nobody else adds to
        // our chain.
        isUniqueness && !["chains", "events"].contains(table)
            ? .success(.conflict) : .failure(StoreFailure(self))
    }
}
