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
            if job.changes.allSatisfy(\.change.fits) {
                members.append((number, job))
            } else {
                job.finish(.failure(StoreFailure(.outOfRange)))
            }
        }
        var retries = Retries(timeout: session.timeout)
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
        return Verdict(isLost: false)
    }

    /// Sends all in one pipeline, which is one transaction: the server ends it where the pipeline ends.
    ///
    /// - Throws: when the connection is lost, and whether the transaction is done is not known.
    private func attempt(
        _ members: [(number: Int, job: CommitJob)]
    ) throws(PostgreSQLFailure) -> Ending {
        let plan = CommitPlan(members)
        var commands = plan.commands
        var chain = lease.chain
        if !plan.events.isEmpty { commands.append(try lease.append(plan.events, to: &chain)) }
        let outcomes = try session.connection.run(commands, timeout: session.timeout * 3)
        for outcome in outcomes {
            if case .failed(let failure) = outcome { return try ending(failure) }
        }
        // A wait for the standby that somebody cancelled: done here, and perhaps nowhere else.
        guard !session.connection.isWarned else { throw .unconfirmed }
        if !plan.events.isEmpty {
            guard case .done(let last)? = outcomes.last else { throw .broken }
            try acknowledge(chain, last)
        }
        return .done
    }
}

// The chain of events, in a transaction.
extension BatchWriter {
    private func acknowledge(
        _ chain: EventChain, _ last: PostgreSQLResult
    ) throws(PostgreSQLFailure) {
        let count = Int(clamping: chain.sequence - lease.chain.sequence)
        guard count > 0,
            let position = try last.first({ row throws(PostgreSQLFailure) in
                try row.unsigned()
            })
        else { throw .strangeRow }
        let head = try cryptography { () throws(CryptographyFailure) in try chain.head() }
        known.acknowledge(ChainEnd(mark: head, position: position), events: UInt64(count))
        lease.move(to: chain, at: position)
    }

    private func takeAnotherLease() throws(PostgreSQLFailure) {
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
