internal import Verification

/// A read that waits for a connection.
struct ReadJob: Sendable {
    let statement: StoreStatement
    let arguments: StatementArguments
    /// Takes the rows, or why there are none; on the connection's thread.
    let finish: @Sendable (Result<PostgreSQLResult, PostgreSQLFailure>) -> Void
    /// A read that a broken connection took along is done once more: it changes nothing.
    var isSecondTry = false
}

extension PostgreSQLSession {
    /// Sends all reads in one go.
    ///
    /// Each takes its statement's patience at most, so that the server's own word comes first where there
    /// is somebody to say it; behind it nobody waits for long.
    func read(_ jobs: [ReadJob]) -> ConnectionPool<PostgreSQLSession, ReadJob>.Verdict {
        let outcomes: [PipelineOutcome]
        do throws(PostgreSQLFailure) {
            outcomes = try connection.run(
                jobs.map { .run($0.statement, $0.arguments) }, patience: 3 * patience / 2)
        } catch .timedOut {
            // Who waited so long is not made to wait once more.
            for job in jobs { job.finish(.failure(.timedOut)) }
            return .init(isLost: true, isSilent: true)
        } catch {
            var again: [ReadJob] = []
            for var job in jobs {
                if job.isSecondTry {
                    job.finish(.failure(error))
                } else {
                    job.isSecondTry = true
                    again.append(job)
                }
            }
            return .init(isLost: true, again: again)
        }
        var again: [ReadJob] = []
        for (job, outcome) in zip(jobs, outcomes) {
            switch outcome {
            case .done(let result, _): job.finish(.success(result))
            case .failed(let failure): job.finish(.failure(failure))
            case .skipped: again.append(job)
            }
        }
        return .init(isLost: false, again: again)
    }
}
