import SQLiteStore
import StoreContract
import Synchronization
import Verification

/// Callers that decide at once, each on a row of its own, so that their decisions share transactions.
final class Gathering: Sendable {
    private static let rounds = 2

    private let store: SQLiteStore
    private let arrived = Atomic(0)

    init(_ store: SQLiteStore) { self.store = store }

    /// Moves each of `count` rows from `number` on by as many versions as there are rounds.
    ///
    /// Somebody else holds the database in each round until all have come. At most as many callers as
    /// there are processors have not handed over their changes then; the others wait together.
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
            StoreWriter.say("failure \(error.trouble) \(error.code)")
        }
    }
}
