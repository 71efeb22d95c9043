internal import Cryptography
public import Verification

extension PostgreSQLStore {
    /// Takes away what has had its time, in one short transaction beside those that decide.
    ///
    /// Two processes that do it at once do it one after the other.
    public func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        let key = key
        let outcome = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<PruningOutcome, PostgreSQLFailure>, Never>)
            in
            keepers.submit(
                HouseJob(pruning: pruning, key: key) { continuation.resume(returning: $0) })
        }
        do { return try outcome.get() } catch { throw StoreFailure(error) }
    }
}

/// Pruning that waits for a connection.
struct HouseJob: Sendable {
    let pruning: Pruning
    let key: AuditKey
    /// Takes the answer; on the connection's thread.
    let finish: @Sendable (Result<PruningOutcome, PostgreSQLFailure>) -> Void
}

extension PostgreSQLSession {
    func keepHouse(_ jobs: [HouseJob]) -> ConnectionPool<PostgreSQLSession, HouseJob>.Verdict {
        var isLost = false
        for job in jobs {
            do throws(PostgreSQLFailure) {
                job.finish(.success(try prune(job.pruning, key: job.key)))
            } catch {
                job.finish(.failure(error))
                // A new session begins without a transaction.
                isLost = true
            }
        }
        return .init(isLost: isLost)
    }

    private func prune(
        _ pruning: Pruning, key: AuditKey
    ) throws(PostgreSQLFailure) -> PruningOutcome {
        var due = StatementArguments()
        due.add(pruning.now?.milliseconds)
        due.add(Int64(pruning.limit))
        var oldest = StatementArguments()
        oldest.add(0)
        oldest.add(Int64(pruning.limit))
        let commands: [PipelineCommand] = [
            .text("BEGIN ISOLATION LEVEL READ COMMITTED"),
            .text("UPDATE settings SET value = value WHERE name = 'pruning'"),
            .run(.pruneCredentials, due), .run(.pruneTickets, due), .run(.pruneAnswers, due),
        ]
        let wantsEvents = pruning.eventsBefore != nil
        let results = try run(commands + (wantsEvents ? [.run(.events, oldest)] : []))
        var old: [ChainedEvent] = []
        if let end = pruning.eventsBefore, let events = results.last {
            let first = try events.all { row throws(PostgreSQLFailure) in try row.event() }
            old = Array(first.prefix { $0.time < end })
        }
        _ = try run(try self.begin(behind: old, pruning, key: key) + [.text("COMMIT")])
        return PruningOutcome(
            credentials: results[2].changed, tickets: results[3].changed,
            answers: results[4].changed, events: old.count)
    }

    /// Takes the events away, and lets each chain begin behind its last one that goes.
    private func begin(
        behind old: [ChainedEvent], _ pruning: Pruning, key: AuditKey
    ) throws(PostgreSQLFailure) -> [PipelineCommand] {
        guard let end = old.last, let before = pruning.eventsBefore else { return [] }
        let pruned = PrunedEvents(before: before, at: pruning.now)
        var arguments = StatementArguments()
        arguments.add(Int64(clamping: end.position))
        var commands: [PipelineCommand] = [.run(.pruneEvents, arguments)]
        var last: [[UInt8]: ChainedEvent] = [:]
        for event in old { last[event.node] = event }
        // Always in the same order, as everything that locks rows.
        for event in last.values.sorted(by: { $0.node.lexicographicallyPrecedes($1.node) }) {
            let start: ChainStart
            do { start = try EventChain.start(behind: event, pruning: pruned, key: key) } catch {
                throw .cryptography
            }
            var arguments = StatementArguments()
            arguments.add(start.node)
            arguments.add(Int64(clamping: start.sequence))
            arguments.add(start.digest)
            arguments.add(Int64(clamping: start.position))
            arguments.add(Int64(clamping: start.behind))
            arguments.add(pruned.before.milliseconds)
            arguments.add(pruned.at?.milliseconds)
            arguments.add(start.authentication)
            commands.append(.run(.updateStart, arguments))
        }
        return commands
    }
}
