@testable import Verification

/// A store that lets so many readers read before the first of them goes on: a race that is lost by
/// all but one, on any machine and however busy it is.
actor GatheringStore: VerificationStore {
    /// Which reading they do together.
    enum Reading: Sendable {
        case credential, ticket, fingerprint
    }

    private let store: MemoryStore
    private var reading = Reading.credential
    /// Readers that are still awaited; nothing waits before ``gather(_:reading:)`` and after the last came.
    private var awaited = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ store: MemoryStore) { self.store = store }

    /// Holds the next `count` readers back until all of them have read.
    func gather(_ count: Int, reading: Reading) {
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

    func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow? {
        let row = await store.credential(id)
        await meet(.credential)
        return row
    }

    func credentials(
        of subject: Subject, includingRevoked: Bool, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        let rows = await store.credentials(
            of: subject, includingRevoked: includingRevoked, limit: limit)
        await meet(.credential)
        return rows
    }

    func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow? {
        let row = await store.ticket(digest: digest)
        await meet(.ticket)
        return row
    }

    func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow? {
        let row = await store.credential(fingerprint: fingerprint)
        await meet(.fingerprint)
        return row
    }

    func credentials(
        under key: KeyID?, after: CredentialID?, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        await store.credentials(under: key, after: after, limit: limit)
    }

    func keyUsage() async throws(StoreFailure) -> [KeyUsage] { await store.keyUsage() }

    func answer(key: [UInt8]) async throws(StoreFailure) -> AnswerRow? {
        await store.answer(key: key)
    }

    func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow? {
        await store.client(digest: digest)
    }

    func clients() async throws(StoreFailure) -> [ClientRow] { await store.clients() }

    func events(after position: UInt64, limit: Int) async throws(StoreFailure) -> [ChainedEvent] {
        await store.events(after: position, limit: limit)
    }

    func chains() async throws(StoreFailure) -> [ChainRecord] { try await store.chains() }

    func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        try await store.commit(changes)
    }

    func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        try await store.prune(pruning)
    }
}
