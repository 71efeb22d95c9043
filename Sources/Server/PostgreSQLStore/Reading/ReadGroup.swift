internal import Verification

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
        var sharing: [Int64: [(job: ReadJob, subject: [UInt8])]] = [:]
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
                arguments.add(limit)
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

    private init(_ job: ReadJob, _ subject: [UInt8], _ limit: Int64) {
        var arguments = StatementArguments()
        arguments.add(subject)
        arguments.add(limit)
        self.init(jobs: [job], command: .run(.credentialsAlive, arguments), isShared: false)
    }

    /// Passes each read its rows.
    func finish(_ result: PostgreSQLResult) {
        do throws(PostgreSQLFailure) {
            let parts = isShared ? try result.rows.split(among: jobs.count) : [result.rows]
            for (job, rows) in zip(jobs, parts) { job.finish(.success(rows)) }
        } catch {
            for job in jobs { job.finish(.failure(error)) }
        }
    }
}
