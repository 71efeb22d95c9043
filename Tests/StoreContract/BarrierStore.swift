package import Verification

/// A store that holds readers back until a given number of them have read: this forces a race that
/// all but one of them lose, however busy the machine is.
package actor BarrierStore: VerificationStore {
    /// The read that the callers make at the same time.
    package enum Reading: Sendable {
        case credential, ticket, challenge, fingerprint, answer
    }

    private let store: any VerificationStore
    private var reading = Reading.credential
    /// The number of readers still expected; 0 before ``gather(_:reading:)`` and after the last
    /// reader.
    package private(set) var awaited = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(_ store: any VerificationStore) { self.store = store }

    /// Holds the next `count` readers back until all of them have read.
    package func gather(_ count: Int, reading: Reading) {
        awaited = count
        self.reading = reading
    }

    private func meet(_ reading: Reading) async {
        guard awaited > 0, reading == self.reading else { return }
        awaited -= 1
        guard awaited > 0 else {
            for continuation in waiting { continuation.resume() }
            waiting = []
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    package func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow? {
        let row = try await store.credential(id)
        await meet(.credential)
        return row
    }

    package func credentials(
        _ query: CredentialQuery, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        let rows = try await store.credentials(query, limit: limit)
        if case .under = query { return rows }
        await meet(.credential)
        return rows
    }

    package func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow? {
        let row = try await store.ticket(digest: digest)
        await meet(.ticket)
        return row
    }

    package func challenge(digest: [UInt8]) async throws(StoreFailure) -> ChallengeRow? {
        let row = try await store.challenge(digest: digest)
        await meet(.challenge)
        return row
    }

    package func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow? {
        let row = try await store.credential(fingerprint: fingerprint)
        await meet(.fingerprint)
        return row
    }

    package func keyUsage() async throws(StoreFailure) -> [KeyUsage] { try await store.keyUsage() }

    package func answer(key: [UInt8]) async throws(StoreFailure) -> AnswerRow? {
        let row = try await store.answer(key: key)
        await meet(.answer)
        return row
    }

    package func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow? {
        try await store.client(digest: digest)
    }

    package func clients() async throws(StoreFailure) -> [ClientRow] { try await store.clients() }

    package func events(after position: UInt64, limit: Int) async throws(StoreFailure)
        -> [ChainedEvent]
    {
        try await store.events(after: position, limit: limit)
    }

    package func chains() async throws(StoreFailure) -> [ChainRecord] { try await store.chains() }

    package func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        try await store.commit(changes)
    }

    package func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        try await store.prune(pruning)
    }
}
