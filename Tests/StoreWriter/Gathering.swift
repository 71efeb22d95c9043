import CSQLite
import SQLiteStore
import StoreContract
import Synchronization
import Verification

/// Callers that decide at the same time, each on its own row, so that their decisions share
/// transactions.
final class Gathering: Sendable {
    private static let rounds = 2

    private let store: SQLiteVerificationStore
    private let arrived = Atomic(0)

    init(_ store: SQLiteVerificationStore) { self.store = store }

    /// Advances each of `count` rows, starting at `number`, by one version per round.
    ///
    /// In each round, another connection holds the write lock until all callers have arrived. By
    /// then, all but a few callers (at most one per processor) have queued their changes, which are
    /// committed together.
    func run(path: String, number: Int, count: Int) async {
        guard let other = OtherWriter(path: path) else { return StoreWriter.say("no lock") }
        for _ in 0..<Self.rounds {
            arrived.store(0, ordering: .sequentiallyConsistent)
            guard other.lock() else { return StoreWriter.say("no lock") }
            await withTaskGroup(of: Void.self) { group in
                for index in number..<(number + count) {
                    group.addTask { await self.decide(index) }
                }
                while arrived.load(ordering: .sequentiallyConsistent) < count {
                    await Task.yield()
                }
                guard other.unlock() else { return StoreWriter.say("no lock") }
            }
        }
    }

    private func decide(_ number: Int) async {
        do throws(StoreFailure) {
            guard let row = try store.credential(.sample(number)) else {
                arrived.add(1, ordering: .sequentiallyConsistent)
                return StoreWriter.say("no row")
            }
            let next = row.next(body: sampleBytes(Int(row.version), count: 200))
            arrived.add(1, ordering: .sequentiallyConsistent)
            let outcome = try await store.commit([
                .updateCredential(next), .appendEvent(.sample(number)),
            ])
            StoreWriter.say("\(outcome) \(number) \(next.version)")
        } catch {
            StoreWriter.say("failure \(error.kind) \(error.code)")
        }
    }
}

/// A second connection to the database, which can block all other writers.
@safe final class OtherWriter: @unchecked Sendable {
    // @unchecked Sendable: only one task uses the handle.
    private let handle: OpaquePointer

    init?(path: String) {
        var opened: OpaquePointer?
        guard unsafe sqlite3_open(path, &opened) == SQLITE_OK, let handle = unsafe opened,
            unsafe sqlite3_exec(handle, "PRAGMA busy_timeout = 5000", nil, nil, nil) == SQLITE_OK
        else { return nil }
        unsafe self.handle = handle
    }

    deinit { unsafe sqlite3_close(handle) }

    /// Blocks other writers.
    ///
    /// Returns whether that succeeded.
    func lock() -> Bool {
        unsafe sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK
    }

    /// Unblocks other writers.
    func unlock() -> Bool { unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) == SQLITE_OK }
}
