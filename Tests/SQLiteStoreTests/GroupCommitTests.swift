import StoreContract
import Synchronization
import TestSupport
import Testing
import Verification
import WatchwordSystem

@testable import SQLiteStore

/// The commits that share a transaction, and the effect of a member's failure on the other members.
struct GroupCommitTests {
    @Test(
        "commits share transactions as the contract specifies", arguments: StoreContract.groupRules
    )
    func rules(rule: StoreContract.GroupRule) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await rule.check(
            StoreContract.GroupSubject(
                StoreContract.Subject(store, key: database.keys.auditKey),
                refusal: StoreFailure(.damaged, code: "SQLITE_CONSTRAINT"),
                together: { try await waitingTogether(store, count: $0, $1) },
                transactions: { try transactions(database) }))
    }

    @Test("a lone commit does not wait for other commits")
    func alone() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let before = try transactions(database)
        _ = try await store.commit([.insertTicket(.sample(1))])
        #expect(try transactions(database) == before + 1)
    }

    @Test("a group without a successful commit writes nothing")
    func nothing() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let before = try transactions(database)
        for count in [1, 5] {
            let outcomes = try await waitingTogether(store, count: count) { index in
                [.appendEvent(.sample(index)), .updateCredential(.sample(1, version: 2))]
            }
            #expect(outcomes == Array(repeating: .success(.conflict), count: count))
        }
        #expect(try transactions(database) == before)
    }

    @Test("a commit that does not fit on the disk does not affect the others in its group")
    func tooLarge() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.insertCredential(.sample(50))])
        try await store.committer.perform { writer throws(StoreFailure) in
            let pages = try writer.session.connection.number("PRAGMA page_count")
            try writer.session.connection.execute("PRAGMA max_page_count = \(pages + 5)")
        }
        let outcomes = try await waitingTogether(store, count: 3) { index in
            let body = [UInt8](repeating: 1, count: index == 1 ? 60_000 : 10)
            return [
                .insertCredential(CredentialRow.sample(index).next(body: body)),
                .appendEvent(.sample(index)),
            ]
        }
        let full = StoreFailure(.full, code: "SQLITE_FULL")
        #expect(outcomes == [.success(.done), .failure(full), .success(.done)])
        #expect(try store.events(after: 0, limit: 9).compactMap { $0.event?.number } == [0, 2])
        #expect(try store.audit().findings == [])
    }

    /// The results of commits that all wait before the writer takes the first commit.
    private func waitingTogether(
        _ store: SQLiteVerificationStore, count: Int,
        _ changes: @escaping @Sendable (Int) -> [StoreChange]
    ) async throws -> [Result<CommitOutcome, StoreFailure>] {
        let gate = Semaphore()
        let isHeld = Flag()
        async let held: Void = store.committer.perform { _ throws(StoreFailure) in
            isHeld.raise()
            gate.wait()
        }
        while !isHeld.isRaised { await Task.yield() }
        let outcomes = await withTaskGroup(of: (Int, Result<CommitOutcome, StoreFailure>).self) {
            group in
            for index in 0..<count {
                group.addTask {
                    do throws(StoreFailure) {
                        return (index, .success(try await store.commit(changes(index))))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            while store.committer.waiting < count { await Task.yield() }
            gate.post()
            var outcomes: [Int: Result<CommitOutcome, StoreFailure>] = [:]
            for await (index, outcome) in group { outcomes[index] = outcome }
            return (0..<count).compactMap { outcomes[$0] }
        }
        try await held
        return outcomes
    }

    /// The number of transactions in the write-ahead log: the last frame of each contains the
    /// file's new size (https://sqlite.org/fileformat.html, section 4.1).
    private func transactions(_ database: TestDatabase) throws -> Int {
        let log = try database.folder.bytes(of: "verifier.db-wal")
        var count = 0
        for frame in stride(from: 32, to: log.count, by: 24 + Schema.pageSize) {
            // Frames from before the log restarted have a different salt.
            let isCurrent: Bool = log[frame + 8..<frame + 16].elementsEqual(log[16..<24])
            let size: ArraySlice<UInt8> = log[frame + 4..<frame + 8]
            if isCurrent, size.contains(where: { $0 != 0 }) { count += 1 }
        }
        return count
    }
}

/// A one-time event that another thread can observe.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .acquiring) }

    func raise() { value.store(true, ordering: .releasing) }
}
