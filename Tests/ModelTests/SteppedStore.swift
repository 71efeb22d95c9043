import Synchronization

@testable import Verification

/// The history of an operation of the verifier, which is enough to repeat the operation up to that
/// point.
struct Progress: Sendable {
    /// The readings of the clock.
    var times: [UnixTime] = []
    /// The results of its store operations.
    fileprivate var results: [any Sendable] = []

    /// The credential rows that it has read, in order.
    var credentials: [CredentialRow] {
        results.flatMap { result -> [CredentialRow] in
            switch result {
            case let row as Recorded<CredentialRow?>: row.value.map { [$0] } ?? []
            case let rows as Recorded<[CredentialRow]>: rows.value
            default: []
            }
        }
    }

    /// The number of store operations done.
    var count: Int { results.count }

    fileprivate struct Recorded<Value: Sendable>: Sendable {
        let value: Value
    }
}

/// A store that lets an operation of the verifier do a limited number of store operations and then
/// pauses it.
///
/// A paused operation cannot be copied, but it can be repeated with the same results, clock
/// readings and random numbers. Each state of an exploration is therefore a value.
actor SteppedStore: VerificationStore {
    /// Thrown to pause an operation.
    static let paused = StoreFailure(.unavailable, code: "paused")

    private let memory: MemoryStore
    private var results: [any Sendable]
    private var position = 0
    private var allowance: Int

    /// - Parameter allowance: the number of further store operations.
    init(_ memory: MemoryStore, resuming results: [any Sendable], allowance: Int) {
        self.memory = memory
        self.results = results
        self.allowance = allowance
    }

    private func step<Value: Sendable>(
        _ body: (MemoryStore) async throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        if position < results.count {
            guard let result = results[position] as? Progress.Recorded<Value> else {
                preconditionFailure("a repeated operation must make the same calls")
            }
            position += 1
            return result.value
        }
        guard allowance > 0 else { throw Self.paused }
        allowance -= 1
        let value = try await body(memory)
        results.append(Progress.Recorded(value: value))
        position += 1
        return value
    }

    /// Runs `operation` on `content`, resuming at `progress`, for up to `operations` more store
    /// operations.
    ///
    /// - Returns: the outcome, or `nil` if the operation was paused.
    static func run<Outcome: Sendable>(
        on content: inout MemoryContent, auditKey: AuditKey, keys: KeyRing, policy: Policy,
        at now: UnixTime, randomness seed: UInt64, progress: inout Progress, operations: Int,
        _ operation: (Verifier) async throws(VerifierError) -> Outcome
    ) async throws(VerifierError) -> Outcome? {
        let memory = MemoryStore(node: content.chain.node, key: auditKey)
        await memory.load(content)
        let store = SteppedStore(memory, resuming: progress.results, allowance: operations)
        let clock = ReplayedClock(progress.times, now: now)
        let verifier = Verifier(
            store: store, keys: keys, policy: policy, randomness: .seeded(seed),
            clock: { clock.read() })
        var outcome: Outcome?
        var failure: VerifierError?
        do throws(VerifierError) { outcome = try await operation(verifier) } catch {
            if case .store(Self.paused) = error {} else { failure = error }
        }
        content = await memory.content
        progress.results = await store.results
        progress.times = clock.readings
        if let failure { throw failure }
        return outcome
    }

    func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow? {
        try await step { memory in await memory.credential(id) }
    }

    func credentials(
        _ query: CredentialQuery, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        try await step { memory in await memory.credentials(query, limit: limit) }
    }

    func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow? {
        try await step { memory in await memory.credential(fingerprint: fingerprint) }
    }

    func keyUsage() async throws(StoreFailure) -> [KeyUsage] {
        try await step { memory in await memory.keyUsage() }
    }

    func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow? {
        try await step { memory in await memory.ticket(digest: digest) }
    }

    func challenge(digest: [UInt8]) async throws(StoreFailure) -> ChallengeRow? {
        try await step { memory in await memory.challenge(digest: digest) }
    }

    func answer(key: [UInt8]) async throws(StoreFailure) -> AnswerRow? {
        try await step { memory in await memory.answer(key: key) }
    }

    func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow? {
        try await step { memory in await memory.client(digest: digest) }
    }

    func clients() async throws(StoreFailure) -> [ClientRow] {
        try await step { memory in await memory.clients() }
    }

    func events(after position: UInt64, limit: Int) async throws(StoreFailure) -> [ChainedEvent] {
        try await step { memory in await memory.events(after: position, limit: limit) }
    }

    func chains() async throws(StoreFailure) -> [ChainRecord] {
        try await step { memory in await memory.chains() }
    }

    func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        try await step { memory in await memory.commit(changes) }
    }

    func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        try await step { memory in await memory.prune(pruning) }
    }
}

extension MemoryStore {
    fileprivate func load(_ content: MemoryContent) { self.content = content }
}

/// A clock that repeats its recorded readings and then shows the current time.
private final class ReplayedClock: Sendable {
    private let state: Mutex<(readings: [UnixTime], position: Int)>
    private let now: UnixTime

    init(_ readings: [UnixTime], now: UnixTime) {
        state = Mutex((readings, 0))
        self.now = now
    }

    var readings: [UnixTime] { state.withLock { $0.readings } }

    func read() -> UnixTime {
        state.withLock { state in
            if state.position == state.readings.count { state.readings.append(now) }
            state.position += 1
            return state.readings[state.position - 1]
        }
    }
}
