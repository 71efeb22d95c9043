import Synchronization
@testable import Verification

/// A store that forwards every call and records its kind.
final class CountingStore: VerificationStore {
    /// A kind of call.
    enum Call: Hashable, Comparable {
        case readCredential, readCredentials, readFingerprint, readByKey, readTicket
        case readChallenge, readAnswer, readClient, readClients
        case commit([Change])

        /// The kinds of change in a commit.
        enum Change: Hashable, Comparable {
            case insert, writeRow, ticket, challenge, answer, client, event
        }

        static func < (left: Call, right: Call) -> Bool { "\(left)" < "\(right)" }
    }

    private actor Log {
        var calls: [Call] = []
        func add(_ call: Call) { calls.append(call) }
        func take() -> [Call] {
            defer { calls = [] }
            return calls
        }
    }

    private let store: any VerificationStore
    private let log = Log()

    init(_ store: any VerificationStore) { self.store = store }

    /// The calls since the previous call of this method.
    func takeCalls() async -> [Call] { await log.take() }

    func credential(_ id: CredentialID) async throws(StoreFailure) -> CredentialRow? {
        await log.add(.readCredential)
        return try await store.credential(id)
    }

    func credentials(
        _ query: CredentialQuery, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        if case .under = query {
            await log.add(.readByKey)
        } else {
            await log.add(.readCredentials)
        }
        return try await store.credentials(query, limit: limit)
    }

    func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow? {
        await log.add(.readFingerprint)
        return try await store.credential(fingerprint: fingerprint)
    }

    func keyUsage() async throws(StoreFailure) -> [KeyUsage] { try await store.keyUsage() }

    func ticket(digest: [UInt8]) async throws(StoreFailure) -> TicketRow? {
        await log.add(.readTicket)
        return try await store.ticket(digest: digest)
    }

    func challenge(digest: [UInt8]) async throws(StoreFailure) -> ChallengeRow? {
        await log.add(.readChallenge)
        return try await store.challenge(digest: digest)
    }

    func answer(key: [UInt8]) async throws(StoreFailure) -> AnswerRow? {
        await log.add(.readAnswer)
        return try await store.answer(key: key)
    }

    func client(digest: [UInt8]) async throws(StoreFailure) -> ClientRow? {
        await log.add(.readClient)
        return try await store.client(digest: digest)
    }

    func clients() async throws(StoreFailure) -> [ClientRow] {
        await log.add(.readClients)
        return try await store.clients()
    }

    func events(after position: UInt64, limit: Int) async throws(StoreFailure) -> [ChainedEvent] {
        try await store.events(after: position, limit: limit)
    }

    func chains() async throws(StoreFailure) -> [ChainRecord] { try await store.chains() }

    func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        let kinds = changes.compactMap { change -> Call.Change? in
            switch change {
            case .requireCapacity: nil
            case .insertCredential: .insert
            case .updateCredential, .writeDummy: .writeRow
            case .insertTicket, .spendTicket, .dropTickets: .ticket
            case .insertChallenge, .spendChallenge, .dropChallenge: .challenge
            case .insertAnswer, .endAnswers, .writeDummyAnswer: .answer
            case .insertClient, .updateClient: .client
            case .appendEvent, .writeDummyEvent: .event
            }
        }
        await log.add(.commit(kinds.sorted()))
        return try await store.commit(changes)
    }

    func prune(_ pruning: Pruning) async throws(StoreFailure) -> PruningOutcome {
        try await store.prune(pruning)
    }
}

/// A store whose server fails on request, before or after the next commit is durable.
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
        _ query: CredentialQuery, limit: Int
    ) async throws(StoreFailure) -> [CredentialRow] {
        await store.credentials(query, limit: limit)
    }

    func credential(fingerprint: [UInt8]) async throws(StoreFailure) -> CredentialRow? {
        await store.credential(fingerprint: fingerprint)
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
