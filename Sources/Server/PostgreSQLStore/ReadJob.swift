internal import SQLStore
internal import Verification

/// A read waiting for a connection.
struct ReadJob: Sendable {
    /// The question that the read asks.
    enum Query: Sendable {
        /// The result of one statement.
        case alone(StoreStatement, StatementArguments)
        /// The subject's rows that are not revoked, at most `limit`; nearly every decision reads
        /// them.
        case alive(subject: [UInt8], limit: Int)
    }

    let question: Query
    /// Receives the rows, or the failure, on the connection's thread.
    let finish: @Sendable (Result<PostgreSQLRows, StoreFailure>) -> Void
    /// Whether the read is a repetition.
    ///
    /// A read that failed with its connection, or with another read, is repeated once; that is
    /// safe, because a read changes nothing.
    var isRetry = false
    /// How often the server aborted the read in favour of another transaction (SQLSTATE 40001 and
    /// 40P01).
    var timesAborted = 0

    /// The maximum number of retries after such aborts.
    static let maximumAborts = 5
}

extension PostgreSQLSession {
    /// Sends all reads together.
    ///
    /// Each read takes at most its statement timeout. The connection's timeout is longer, so that a
    /// server that still responds can report the failure itself; if the server does not respond,
    /// callers do not wait much longer.
    func read(_ jobs: [ReadJob]) -> ConnectionPool<PostgreSQLSession, ReadJob>.Verdict {
        let groups = ReadGroup.gather(jobs)
        let outcomes: [PipelineOutcome]
        do throws(StoreFailure) {
            let sent = clock?.due()
            let query = sent == nil ? [] : [ClockComparison.query]
            outcomes = try connection.run(
                groups.map(\.command) + query, timeout: timeout * 3 / 2)
            if let clock, let sent, case .done(let result)? = outcomes.last {
                try clock.compare(result.rows, since: sent)
            }
        } catch .timedOut {
            return .init(isLost: true, isUnresponsive: true, again: jobs)
        } catch {
            return .init(isLost: true, again: refuse(jobs, because: error))
        }
        var again: [ReadJob] = []
        for (group, outcome) in zip(groups, outcomes) {
            switch outcome {
            case .done(let result): group.finish(result)
            case .failed(let refused) where refused.failure.isTransient:
                again += giveUp(group.jobs, because: refused.failure)
            // One read may have made the statement fail; the others can still succeed separately.
            case .failed(let refused) where group.jobs.count > 1 && !refused.failure.isTimeout:
                again += refuse(group.jobs, because: refused.failure)
            case .failed(let refused):
                for job in group.jobs { job.finish(.failure(refused.failure)) }
            case .skipped: again += group.jobs
            }
        }
        return .init(isLost: false, again: again)
    }

    /// - Returns: the jobs to retry.
    private func giveUp(_ jobs: [ReadJob], because failure: StoreFailure) -> [ReadJob] {
        var again: [ReadJob] = []
        for var job in jobs {
            job.timesAborted += 1
            if job.timesAborted > ReadJob.maximumAborts {
                job.finish(.failure(failure))
            } else {
                again.append(job)
            }
        }
        return again
    }

    /// - Returns: the jobs to repeat.
    private func refuse(_ jobs: [ReadJob], because failure: StoreFailure) -> [ReadJob] {
        var again: [ReadJob] = []
        for var job in jobs {
            if job.isRetry {
                job.finish(.failure(failure))
            } else {
                job.isRetry = true
                again.append(job)
            }
        }
        return again
    }
}

/// Reads that one statement answers.
///
/// Most of the cost of a small read on the server is per statement, not per row.
struct ReadGroup {
    private(set) var jobs: [ReadJob]
    let command: PipelineCommand
    /// Whether a number at the start of each row assigns it to a read.
    private let isShared: Bool

    /// Groups the reads that ask the same question about several subjects.
    ///
    /// A read that is retried gets a separate group.
    static func gather(_ jobs: [ReadJob]) -> [ReadGroup] {
        var groups: [ReadGroup] = []
        var sharing: [Int: [(job: ReadJob, subject: [UInt8])]] = [:]
        for job in jobs {
            switch job.question {
            case .alive(let subject, let limit) where !job.isRetry:
                sharing[limit, default: []].append((job, subject))
            case .alive(let subject, let limit): groups.append(ReadGroup(job, subject, limit))
            case .alone(let statement, let arguments):
                groups.append(
                    ReadGroup(jobs: [job], command: .run(statement, arguments), isShared: false))
            }
        }
        for (limit, members) in sharing {
            if members.count == 1 {
                groups.append(ReadGroup(members[0].job, members[0].subject, limit))
            } else {
                var arguments = StatementArguments()
                arguments.add(members) { $0.subject }
                arguments.add(limit.storedValue)
                groups.append(
                    ReadGroup(
                        jobs: members.map(\.job), command: .run(.credentialsAliveOfEach, arguments),
                        isShared: true))
            }
        }
        return groups
    }

    private init(jobs: [ReadJob], command: PipelineCommand, isShared: Bool) {
        self.jobs = jobs
        self.command = command
        self.isShared = isShared
    }

    private init(_ job: ReadJob, _ subject: [UInt8], _ limit: Int) {
        self.init(
            jobs: [job], command: .run(.credentialsAlive, StatementArguments(subject, limit)),
            isShared: false)
    }

    /// Passes each read its rows.
    func finish(_ result: PostgreSQLResult) {
        do throws(StoreFailure) {
            let parts = isShared ? try result.rows.split(among: jobs.count) : [result.rows]
            for (job, rows) in zip(jobs, parts) { job.finish(.success(rows)) }
        } catch {
            for job in jobs { job.finish(.failure(error)) }
        }
    }
}
