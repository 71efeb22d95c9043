@testable import Verification

/// A store whose server dies on request, before or after the next commit is durable.
actor FaultyStore: VerificationStore {
    enum Death: Sendable {
        case beforeCommit, afterCommit
    }

    private let store: MemoryStore
    private var death: Death?

    init(_ store: MemoryStore) { self.store = store }

    func die(_ death: Death) { self.death = death }

    func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        let death = self.death
        self.death = nil
        if case .beforeCommit = death { throw StoreFailure(.unavailable) }
        let outcome = await store.commit(changes)
        if case .afterCommit = death { throw StoreFailure(.unavailable) }
        return outcome
    }

    func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow? {
        await store.credential(id)
    }

    func credentials(
        of subject: Subject, revokedBefore time: UnixTime?, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        await store.credentials(of: subject, revokedBefore: time, limit: limit)
    }

    func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow? {
        await store.credential(fingerprint: fingerprint)
    }

    func credentials(
        under key: KeyID?, after: CredentialID?, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        await store.credentials(under: key, after: after, limit: limit)
    }

    func keyUsage() async throws(StoreFailure) -> [KeyUsage] { await store.keyUsage() }

    func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow? {
        await store.ticket(digest: digest)
    }

    func challenge(digest: [UInt8]) async throws(StoreFailure) -> ChallengeRow? {
        await store.challenge(digest: digest)
    }

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

    func chains() async -> [ChainRecord] { await store.chains() }

    func prune(_ pruning: Pruning) async -> PruningOutcome {
        await store.prune(pruning)
    }
}
