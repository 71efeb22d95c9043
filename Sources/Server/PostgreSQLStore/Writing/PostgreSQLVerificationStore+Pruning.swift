internal import SQLStore
public import Verification
internal import WatchwordCryptography

extension PostgreSQLVerificationStore {
    /// Deletes expired rows and old events in one short transaction, while decisions continue.
    ///
    /// If two processes prune at the same time, one waits for the other.
    public func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        let key = key
        let outcome = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<PruningOutcome, PostgreSQLFailure>, Never>)
            in
            keepers.submit(
                MaintenanceJob(pruning: pruning, key: key) { continuation.resume(returning: $0) })
        }
        do { return try outcome.get() } catch { throw StoreFailure(error) }
    }
}

/// A pruning job waiting for a connection.
struct MaintenanceJob: Sendable {
    let pruning: Pruning
    let key: AuditKey
    /// Receives the outcome on the connection's thread.
    let finish: @Sendable (Result<PruningOutcome, PostgreSQLFailure>) -> Void
}

extension PostgreSQLSession {
    func runHousekeeping(_ jobs: [MaintenanceJob])
        -> ConnectionPool<PostgreSQLSession, MaintenanceJob>.Verdict
    {
        var isLost = false
        for job in jobs {
            do throws(PostgreSQLFailure) {
                job.finish(.success(try prune(job.pruning, key: job.key)))
            } catch {
                job.finish(.failure(error))
                // A new session begins without an open transaction.
                isLost = true
            }
        }
        return .init(isLost: isLost)
    }

    private func prune(
        _ pruning: Pruning, key: AuditKey
    ) throws(PostgreSQLFailure) -> PruningOutcome {
        let due = StatementArguments(pruning.now, pruning.limit)
        let dueChallenges = StatementArguments(pruning.challengesAt, pruning.limit)
        let oldest = StatementArguments(0, pruning.limit)
        let commands: [PipelineCommand] = [
            .text("BEGIN ISOLATION LEVEL READ COMMITTED"),
            .text("UPDATE settings SET value = value WHERE name = 'pruning'"),
            .run(.pruneCredentials, due), .run(.pruneTickets, due),
            .run(.pruneChallenges, dueChallenges),
            .run(.pruneAnswers, due),
        ]
        // The chain records are read last, so that they cover every event that is read.
        let events: [PipelineCommand] =
            pruning.eventsBefore == nil ? [] : [.run(.events, oldest), .run(.chains)]
        let results = try run(commands + events)
        let old = try oldEvents(results.dropFirst(commands.count), pruning, key: key)
        _ = try run(replacing(old) + [.text("COMMIT")])
        return PruningOutcome(
            credentials: results[2].changed, tickets: results[3].changed,
            challenges: results[4].changed, answers: results[5].changed, events: old.count,
            areEventsAltered: old.areAltered)
    }

    private func oldEvents(
        _ results: ArraySlice<PostgreSQLResult>, _ pruning: Pruning, key: AuditKey
    ) throws(PostgreSQLFailure) -> ExpiredEvents {
        let first = try results.first?.all { row throws(PostgreSQLFailure) in try row.event() }
        let chains = try results.last?.all { row throws(PostgreSQLFailure) in try row.chain() }
        return ExpiredEvents(first ?? [], chains: chains ?? [], pruning: pruning, key: key)
    }

    /// Deletes the events, and moves each chain's start to its last deleted event.
    private func replacing(_ old: ExpiredEvents) -> [PipelineCommand] {
        guard let end = old.end else { return [] }
        // Chains are always locked in the same order.
        return [.run(.pruneEvents, StatementArguments(end))]
            + old.starts.map { .run(.updateStart, StatementArguments($0.arguments)) }
    }
}
