import Foundation
import SQLiteStore
import Verification
import WatchwordCryptography

/// Simulates a year in which every subject signs in once a day.
///
/// Requests have an idempotency key, so responses are stored for a day. Expired rows are deleted
/// every day, and events after thirty days.
struct Year {
    private let place: Place
    private static let people = 500
    private static let days = 365
    private static let callers = 32
    private static let eventDays: Int64 = 30

    init(_ place: Place) { self.place = place }

    func run() async throws {
        let store = try place.openFile()
        let population = Population(count: Self.people)
        try await population.fill(store, keys: place.keys)
        var months: [(time: Int64, events: Int, bytes: Int)] = []
        var best = Int64.max
        for day in 1...Self.days {
            let now = UnixTime(seconds: Population.start + Int64(day) * 86_400)
            let clock = ContinuousClock()
            let start = clock.now
            try await signIn(population, store, now, day)
            best = min(best, (clock.now - start).nanoseconds / Int64(Self.people))
            try await store.pruneAll(
                Pruning(
                    now: now, eventsBefore: now.adding(seconds: -Self.eventDays * 86_400)))
            if day.isMultiple(of: 30) {
                months.append((best, try events(store), try bytes()))
                best = .max
            }
        }
        // In the first month there are no events to delete, so it is not comparable.
        for (name, month) in [("first", months[1]), ("last", months[months.count - 1])] {
            StoreBenchmark.say("year-\(name)", month.time)
            StoreBenchmark.say("year-\(name)-events", month.events)
            StoreBenchmark.say("year-\(name)-bytes", month.bytes)
        }
        store.close()
    }

    private func signIn(
        _ population: Population, _ store: SQLiteVerificationStore, _ now: UnixTime, _ day: Int
    ) async throws {
        let verifier = Verifier(store: store, keys: place.keys) { now }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<Self.callers {
                group.addTask {
                    for number in stride(from: caller, to: Self.people, by: Self.callers) {
                        let code = population.code(number, at: now.seconds)
                        let key = Array("day \(day + 10_000), \(number + 1_000_000), 32 byt".utf8)
                        let recorder = Recorder<VerificationOutcome>(key: key, request: key) { _ in
                            SecretBytes(copying: [UInt8](repeating: 0x20, count: 200).span)
                        }
                        let outcome = try await verifier.verify(
                            PresentedCode(code.utf8.span), subject: population.subject(number),
                            recorder: recorder)
                        guard case .accepted = outcome.result else {
                            throw BenchmarkError.wrongAnswer
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func events(_ store: SQLiteVerificationStore) throws -> Int {
        var (count, last) = (0, UInt64(0))
        while true {
            let some = try store.events(after: last, limit: 10_000)
            guard let end = some.last else { return count }
            count += some.count
            last = end.position
        }
    }

    private func bytes() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: place.address)
        return attributes[.size] as? Int ?? 0
    }
}
