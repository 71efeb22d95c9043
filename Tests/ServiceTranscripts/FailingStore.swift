internal import Synchronization
package import Verification

/// A store whose reads, commits, or responses to commits fail on demand.
package final class FailingStore: VerificationStore {
    /// The operations that fail.
    package enum Fault: Hashable, Sendable {
        case reads, commits
        /// The commit succeeds, but its result is lost.
        case answers
    }

    private let store: any VerificationStore
    private let fault = Mutex<(Fault, StoreFailure)?>(nil)
    private let commitCount = Mutex(0)
    private let interruption = Mutex<(@Sendable () async -> Void)?>(nil)

    /// Takes the store that receives the calls.
    package init(_ store: any VerificationStore) { self.store = store }

    /// Makes the operations of `fault` fail from now on; `nil` ends the fault.
    package func fail(_ fault: Fault?, with kind: StoreFailure.FailureKind = .unavailable) {
        self.fault.withLock { $0 = fault.map { ($0, StoreFailure(kind, code: "TEST")) } }
    }

    /// The number of successful commits.
    package var commits: Int { commitCount.withLock { $0 } }

    /// Runs `body` once, after the next lookup of a recorded response.
    package func interruptNextAnswer(_ body: @escaping @Sendable () async -> Void) {
        interruption.withLock { $0 = body }
    }

    private func check(_ operation: Fault) throws(StoreFailure) {
        let failure = fault.withLock { $0?.0 == operation ? $0?.1 : nil }
        if let failure { throw failure }
    }

    package func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow? {
        try check(.reads)
        return try await store.credential(id)
    }

    package func credentials(
        _ query: CredentialQuery, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        try check(.reads)
        return try await store.credentials(query, limit: limit)
    }

    package func credential(
        fingerprint: [UInt8]
    ) async throws(StoreFailure) -> CredentialRow? {
        try check(.reads)
        return try await store.credential(fingerprint: fingerprint)
    }

    package func keyUsage() async throws(StoreFailure) -> [KeyUsage] {
        try check(.reads)
        return try await store.keyUsage()
    }

    package func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow? {
        try check(.reads)
        return try await store.ticket(digest: digest)
    }

    package func challenge(digest: [UInt8]) async throws(StoreFailure) -> ChallengeRow? {
        try check(.reads)
        return try await store.challenge(digest: digest)
    }

    package func answer(key: [UInt8]) async throws(StoreFailure) -> AnswerRow? {
        try check(.reads)
        let row = try await store.answer(key: key)
        let body = interruption.withLock { body in
            defer { body = nil }
            return body
        }
        await body?()
        return row
    }

    package func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow? {
        try check(.reads)
        return try await store.client(digest: digest)
    }

    package func clients() async throws(StoreFailure) -> [ClientRow] {
        try check(.reads)
        return try await store.clients()
    }

    package func events(
        after position: UInt64, limit: Int
    ) async throws(StoreFailure) -> [ChainedEvent] {
        try check(.reads)
        return try await store.events(after: position, limit: limit)
    }

    package func chains() async throws(StoreFailure) -> [ChainRecord] {
        try check(.reads)
        return try await store.chains()
    }

    package func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        try check(.commits)
        let outcome = try await store.commit(changes)
        if outcome == .done { commitCount.withLock { $0 += 1 } }
        try check(.answers)
        return outcome
    }

    package func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        try check(.commits)
        return try await store.prune(pruning)
    }
}
