internal import Verification

/// A read that waits for a connection.
struct ReadJob: Sendable {
    /// What is asked.
    enum Question: Sendable {
        /// A statement of its own.
        case alone(StoreStatement, StatementArguments)
        /// A subject's rows that are not revoked, at most so many: what nearly every decision asks.
        case alive(subject: [UInt8], limit: Int64)
    }

    let question: Question
    /// Takes the rows, or why there are none; on the connection's thread.
    let finish: @Sendable (Result<PostgreSQLRows, PostgreSQLFailure>) -> Void
    /// A read that a broken connection took along, or another one's failure, is done once more: it
    /// changes nothing.
    var isSecondTry = false
    /// How often the server gave it up for another transaction (SQLSTATE 40001 and 40P01).
    var timesGivenUp = 0

    /// So often it is tried again.
    static let maximalTimesGivenUp = 5
}

extension PostgreSQLSession {
    /// Sends all reads in one go.
    ///
    /// Each takes its statement timeout at most, so that the server's own word comes first where there
    /// is somebody to say it; behind it nobody waits for long.
    func read(_ jobs: [ReadJob]) -> ConnectionPool<PostgreSQLSession, ReadJob>.Verdict {
        let groups = ReadGroup.gather(jobs)
        let outcomes: [PipelineOutcome]
        do throws(PostgreSQLFailure) {
            outcomes = try connection.run(groups.map(\.command), timeout: timeout * 3 / 2)
        } catch .timedOut {
            // Who waited so long is not made to wait once more.
            for job in jobs { job.finish(.failure(.timedOut)) }
            return .init(isLost: true, isSilent: true)
        } catch {
            return .init(isLost: true, again: refuse(jobs, because: error))
        }
        var again: [ReadJob] = []
        for (group, outcome) in zip(groups, outcomes) {
            switch outcome {
            case .done(let result): group.finish(result)
            case .failed(let failure) where failure.isPassing:
                again += giveUp(group.jobs, because: failure)
            // What fails may be one of them; alone, the others still succeed.
            case .failed(let failure) where group.jobs.count > 1 && !failure.isBusy:
                again += refuse(group.jobs, because: failure)
            case .failed(let failure):
                for job in group.jobs { job.finish(.failure(failure)) }
            case .skipped: again += group.jobs
            }
        }
        return .init(isLost: false, again: again)
    }

    /// - Returns: those that are tried again.
    private func giveUp(_ jobs: [ReadJob], because failure: PostgreSQLFailure) -> [ReadJob] {
        var again: [ReadJob] = []
        for var job in jobs {
            job.timesGivenUp += 1
            if job.timesGivenUp > ReadJob.maximalTimesGivenUp {
                job.finish(.failure(failure))
            } else {
                again.append(job)
            }
        }
        return again
    }

    /// - Returns: those that are tried once more.
    private func refuse(_ jobs: [ReadJob], because failure: PostgreSQLFailure) -> [ReadJob] {
        var again: [ReadJob] = []
        for var job in jobs {
            if job.isSecondTry {
                job.finish(.failure(failure))
            } else {
                job.isSecondTry = true
                again.append(job)
            }
        }
        return again
    }
}
