import StoreContract
import Synchronization
import Testing
import Verification

/// Callers that decide continuously on several stores of one database while faults happen, and
/// record every result.
final class Ledger: Sendable {
    private static let rows = 8
    private static let tickets = 4_000

    /// A row, ticket or challenge that may be accepted once.
    private enum Use: Hashable {
        case ticket(Int)
        case challenge(Int)
        case version(row: Int, UInt64)
    }

    private struct Content {
        var next = 0
        /// The numbers of the acknowledged decisions that spent each use.
        var done: [Use: [Int]] = [:]
        var failures: [StoreFailure: Int] = [:]
        var isOver = false

        var doneCount: Int { done.values.reduce(0) { $0 + $1.count } }
        var failureCount: Int { failures.values.reduce(0, +) }
    }

    private let content = Mutex(Content())
    private let stores: [any VerificationStore]

    init(_ stores: [any VerificationStore]) async throws {
        self.stores = stores
        for row in 0..<Self.rows {
            let outcome = try await stores[0].commit([.insertCredential(.sample(row))])
            try #require(outcome == .done)
        }
        // Sequential commits would take one round trip each.
        try await withThrowingTaskGroup(of: CommitOutcome.self) { group in
            for ticket in 0..<Self.tickets {
                group.addTask {
                    try await stores[0].commit([
                        ticket.isMultiple(of: 2)
                            ? .insertTicket(.sample(ticket, credential: 1_000 + ticket))
                            : .insertChallenge(.sample(ticket))
                    ])
                }
            }
            for try await outcome in group { try #require(outcome == .done) }
        }
    }

    /// Runs `callers` callers on each store while `kind` disturbs the database.
    func run(callers: Int, during kind: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                for _ in 0..<callers {
                    group.addTask { while !self.isOver { await self.decide(on: store) } }
                }
            }
            defer { end() }
            try await kind()
            end()
            try await group.waitForAll()
        }
    }

    /// Waits until `count` more decisions succeed.
    func awaitProgress(_ count: Int) async throws {
        let before = content.withLock { $0.doneCount }
        try await wait("no progress") { $0.doneCount >= before + count }
    }

    /// Waits until `count` more calls fail.
    func awaitFailures(_ count: Int) async throws {
        let before = content.withLock { $0.failureCount }
        try await wait("no failures") { $0.failureCount >= before + count }
    }

    /// The number of failed calls for each kind of failure.
    var failures: [StoreFailure: Int] { content.withLock { $0.failures } }

    /// The kinds of failures that occurred.
    var kinds: Set<StoreFailure.FailureKind> {
        content.withLock { Set($0.failures.keys.map(\.kind)) }
    }

    /// Expects that nothing was accepted twice, and that every accepted use is in the database.
    func expectKept(in store: any VerificationStore, key: AuditKey) async throws {
        let done = content.withLock { $0.done }
        #expect(done.values.allSatisfy { $0.count == 1 }, "something was accepted twice")
        let events = try await store.events(after: 0, limit: 1_000_000)
        let kept = events.compactMap { $0.event?.number }
        #expect(Set(kept).count == kept.count, "a decision is stored twice")
        let lost = Set(done.values.joined().map { Int64($0) }).subtracting(kept)
        #expect(lost == [], "acknowledged decisions are missing")
        for use in done.keys {
            switch use {
            case .ticket(let number):
                let ticket = try await store.ticket(digest: TicketRow.sample(number).digest)
                #expect(ticket == nil, "a spent ticket is back")
            case .challenge(let number):
                let digest = ChallengeRow.sample(number).digest
                #expect(
                    try await store.challenge(digest: digest) == nil, "a spent challenge is back")
            case .version(let row, let version):
                let stored = try await store.credential(.sample(row))?.version ?? 0
                #expect(stored >= version, "a row was rolled back")
            }
        }
        let findings = try await StoreContract.audit(StoreContract.Subject(store, key: key))
        #expect(findings == [])
    }

    private var isOver: Bool { content.withLock { $0.isOver } }

    private func end() { content.withLock { $0.isOver = true } }

    private func wait(_ what: String, until condition: (Content) -> Bool) async throws {
        // The deadline does not measure speed: it ends a test that would otherwise never end.
        let end = ContinuousClock.now + .seconds(60)
        while !content.withLock({ condition($0) }) {
            let facts = content.withLock { "\($0.doneCount) done, failures: \($0.failures)" }
            try #require(ContinuousClock.now < end, "\(what): \(facts)")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Makes one decision on a use that another caller also tries to spend.
    private func decide(on store: any VerificationStore) async {
        let number = content.withLock { content in
            content.next += 1
            return content.next
        }
        do throws(StoreFailure) {
            let (use, change) = try await interest(number / 2, of: store)
            let outcome = try await store.commit([change, .appendEvent(.sample(number))])
            guard outcome == .done else { return }
            content.withLock { $0.done[use, default: []].append(number) }
        } catch {
            content.withLock { $0.failures[error, default: 0] += 1 }
            // While the database is down, callers leave the processors to the programs that restart
            // it.
            do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
        }
    }

    /// Alternates between rows and tickets or challenges; once no ticket or challenge is left,
    /// returns only rows.
    private func interest(
        _ pair: Int, of store: any VerificationStore
    ) async throws(StoreFailure) -> (Use, StoreChange) {
        if pair.isMultiple(of: 2), pair / 2 < Self.tickets {
            let number = pair / 2
            return number.isMultiple(of: 2)
                ? (.ticket(number), .spendTicket(digest: TicketRow.sample(number).digest))
                : (.challenge(number), .spendChallenge(digest: ChallengeRow.sample(number).digest))
        }
        let number = pair % Self.rows
        guard let row = try await store.credential(.sample(number)) else {
            throw StoreFailure(.damaged, code: "no row")
        }
        let next = row.next(body: row.body)
        return (.version(row: number, next.version), .updateCredential(next))
    }
}
