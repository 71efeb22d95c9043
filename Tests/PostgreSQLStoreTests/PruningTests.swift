import PostgreSQLServer
import StoreContract
import Testing
import Verification

@testable import PostgreSQLStore

/// Two processes that prune and write at the same time.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct PruningTests {
    @Test("concurrent pruning by two stores deletes each row once, and the chains stay valid")
    func together() async throws {
        let database = try TestDatabase()
        let stores = [try database.open(), try database.open()]
        for number in 0..<60 {
            _ = try await stores[number % 2].commit([
                .insertTicket(.sample(number, expiresAt: 0)),
                .insertChallenge(.sample(number, expiresAt: 0)),
                .insertAnswer(.sample(number, expiresAt: 0)),
                .insertCredential(.sample(number, state: .pending, lapsesAt: 0)),
                .appendEvent(.sample(number, at: Int64(number))),
            ])
        }
        let pruning = Pruning(now: .at(1), eventsBefore: .at(50), limit: 7)
        let taken = try await withThrowingTaskGroup(of: PruningOutcome.self) { group in
            for index in 0..<20 {
                group.addTask { try await stores[index % 2].prune(pruning) }
            }
            for index in 0..<20 {
                group.addTask {
                    _ = try await stores[index % 2].commit([.appendEvent(.sample(100, at: 100))])
                    return PruningOutcome()
                }
            }
            return try await group.reduce(into: [PruningOutcome]()) { $0.append($1) }
        }
        #expect(taken.map(\.tickets).reduce(0, +) == 60)
        #expect(taken.map(\.challenges).reduce(0, +) == 60)
        #expect(taken.map(\.answers).reduce(0, +) == 60)
        #expect(taken.map(\.credentials).reduce(0, +) == 60)
        #expect(taken.map(\.events).reduce(0, +) == 50)
        #expect(try database.audit().isWhole(events: 30))
    }

    @Test("pruning skips rows that a decision has locked, without waiting")
    func held() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for number in 0..<3 {
            _ = try await store.commit([.insertTicket(.sample(number, expiresAt: 0))])
        }
        let lock = try HeldLock(
            database,
            "SELECT digest FROM watchword.tickets ORDER BY digest LIMIT 1 FOR UPDATE")
        #expect(try await store.prune(Pruning(now: .at(1))).tickets == 2)
        try lock.release()
        #expect(try await store.prune(Pruning(now: .at(1))).tickets == 1)
    }
}
