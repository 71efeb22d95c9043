internal import SecretVault
internal import Synchronization
internal import VaultService
internal import WatchwordSystem

/// The memory limits of the system agent, in which one process serves all users.
///
/// The limit of its systemd unit (`MemoryMax`) is greater than the sum of these limits.
struct MemoryLimits: Sendable {
    /// The turns of each user's key derivations, which run one after another.
    let derivations = MemoryTurns(total: .max)
    /// The memory of the derivations of all users.
    let derivationMemory = MemoryTurns(total: 1 << 30)
    /// Large requests to change or move a vault; each user has one at a time.
    let edits = MemoryTurns(total: 1 << 30)
    /// Requests about a large vault; they do not have to wait for ``edits``.
    let large = MemoryTurns(total: 512 << 20)
    /// All other requests; they do not have to wait for large ones.
    let small = MemoryTurns(total: 256 << 20, perUser: 64 << 20)
    /// Requests that may wait for a person or a server; meanwhile, their other turn is paused.
    let asking = MemoryTurns(total: 256 << 20, perUser: 4 * leastOfAsking)

    /// How long a request waits for its turn to derive a key.
    static let timeout = Duration.seconds(30)
    /// How long a request waits for its turn to begin, while its sender waits, too.
    ///
    /// This is longer than the processing of another user's large request plus the time by which
    /// that client may delay the end of the turn (``AgentProtocol/turnTimeout``).
    static let shortTimeout = Duration.seconds(15)

    /// The size above which only one request of a user gets memory at a time.
    static let largestSmall = 16 << 20
    /// The minimum charge for a request, so that one user's requests cannot use all processor time.
    private static let leastOfRequest = 8 << 20
    /// The minimum charge for a waiting request, which includes the program that asks.
    private static let leastOfAsking = 2 << 20
    /// The size of the largest request that may wait for a person or a server.
    private static let largestAsking = 2 << 20
    /// The maximum memory per byte of a request and of the vault's files, and the fixed part of
    /// each request; `RequestMemoryTests` measures all kinds of requests.
    static let (perByte, base) = (12, 1 << 18)
    /// The additional memory for each entry that a request adds, and the size of the smallest entry
    /// in a request.
    private static let (perEntry, smallestEntry) = (1 << 10, 28)

    /// The memory that a request may take at most.
    ///
    /// - Parameters:
    ///   - request: the size of its frame.
    ///   - vault: the size of the vault's file plus its previous generation.
    static func memory(ofRequest request: Int, vault: Int) -> Int {
        let entries = min(request / smallestEntry, TransferLimits.entries)
        return max(leastOfRequest, base + perByte * (request + vault) + perEntry * entries)
    }

    fileprivate func turns(for memory: Int, ofRequest size: Int) -> MemoryTurns {
        guard memory > MemoryLimits.largestSmall else { return small }
        return size > AgentProtocol.largestRequest ? edits : large
    }

    /// Begins the wait of a request for a person or a server; an open vault takes four times the
    /// size of its file.
    ///
    /// - Returns: the memory that the request takes while it waits; `nil` if too many requests of
    ///   its user are waiting.
    fileprivate func beginAsking(for turn: RequestTurn) throws(SystemCallFailure) -> Int? {
        guard turn.size.frame <= MemoryLimits.largestAsking else { return nil }
        let memory = max(MemoryLimits.leastOfAsking, 4 * turn.size.largestFile)
        return try asking.begin(of: turn.user, size: memory, timeout: .zero) ? memory : nil
    }
}

// Limits the memory that the requests of one user and of all users take.
extension AgentServices {
    /// Runs `body`, which derives keys; in the system agent, first waits for the user's turn.
    ///
    /// - Parameters:
    ///   - ceiling: the maximum cost.
    ///   - isWanted: whether to continue to wait for the turn.
    ///   - slots: the vault's slots; `nil` if unknown.
    /// - Throws: ``VaultError/busy`` if the turn does not come in time.
    func deriving<Result>(
        upTo ceiling: Int = Vault.defaultCeiling, while isWanted: () -> Bool = { true },
        with slots: () throws -> [SlotSummary]?, _ body: () throws -> Result
    ) throws -> Result {
        guard case .account(let account) = reach else { return try body() }
        let user = account.user
        func begin(_ turns: MemoryTurns, _ size: Int) throws {
            let hasBegun = try turns.begin(
                of: user, size: size, timeout: MemoryLimits.timeout, while: isWanted)
            guard hasBegun else { throw VaultError.busy }
        }
        try begin(limits.derivations, 0)
        defer { limits.derivations.end(of: user, size: 0) }
        // If the slots are unknown, charge the maximum that the ceiling allows.
        let size = try slots()?.memoryOfDerivation(upTo: ceiling) ?? 1024 << ceiling
        try begin(limits.derivationMemory, size)
        defer { limits.derivationMemory.end(of: user, size: size) }
        return try body()
    }

    /// Runs `body`, which may wait for a person or a server, unless too many requests of the user
    /// are already waiting.
    func asking(_ body: () throws -> AgentResponse) throws -> AgentResponse {
        guard let turn else { return try body() }
        guard let memory = try limits.beginAsking(for: turn) else { return .tooManyClients }
        defer { limits.asking.end(of: turn.user, size: memory) }
        return try body()
    }

    /// Waits until a request has its turn.
    ///
    /// The memory that the request may take is charged before it is read completely.
    ///
    /// - Parameters:
    ///   - beginning: the first bytes of the request's frame.
    ///   - size: the size of the frame.
    ///   - place: the place of the vault for the connection, if there is one.
    ///   - isWanted: whether to continue to wait.
    /// - Returns: `nil` if the request needs no turn.
    func beginTurn(
        for beginning: Span<UInt8>, size: Int, usedAt place: (VaultPlace) -> VaultPlace,
        while isWanted: @escaping @Sendable () -> Bool
    ) throws -> RequestTurn? {
        guard case .account(let account) = reach, !AgentRequest.isAlwaysAnswered(beginning)
        else { return nil }
        // Every user may move a vault to the agent; other large requests need an open vault.
        if size > AgentProtocol.largestRequest, !AgentRequest.isMove(beginning) {
            guard let own = account.place(), vaults.isHeld(place(own)) else {
                throw RequestRefusal(.notHeld)
            }
        }
        // Another request may enlarge the file in the meantime, so add room.
        let room = AgentProtocol.largestRequest
        let file = Int(FileStamp(of: account.path)?.size ?? 0)
        let previous = Vault.previousSize(at: account.path)
        let memory = MemoryLimits.memory(ofRequest: size, vault: file + previous + room)
        let turns = limits.turns(for: memory, ofRequest: size)
        let hasBegun = try turns.begin(
            of: account.user, size: memory, timeout: MemoryLimits.shortTimeout, while: isWanted)
        guard hasBegun else { throw VaultError.busy }
        let needed = RequestSize(
            frame: size, largestFile: max(file, previous) + room + size, memory: memory)
        return RequestTurn(of: account.user, needed, from: turns, while: isWanted)
    }
}

extension [SlotSummary] {
    /// The memory of the most expensive derivation whose cost is within `ceiling`.
    fileprivate func memoryOfDerivation(upTo ceiling: Int) -> Int {
        let costs = map { if case .passphrase(let logN) = $0.method { logN } else { 0 } }
        return 1024 << (costs.filter { $0 <= ceiling }.max() ?? 0)
    }
}

/// The size and the memory charge of a request, in bytes.
struct RequestSize: Sendable {
    /// The size of the request's frame.
    let frame: Int
    /// The size of the largest file that the request may read: the vault or its previous
    /// generation.
    let largestFile: Int
    /// The memory that the request may take.
    let memory: Int
}

/// A request's claim to its memory, until the request has been answered.
final class RequestTurn: Sendable {
    let user: UInt32
    let size: RequestSize
    private let turns: MemoryTurns
    /// Whether the client still waits for the response.
    private let isWanted: @Sendable () -> Bool
    /// Whether the memory is charged at present.
    private let isCharged = Mutex(true)

    /// A turn that has begun.
    init(
        of user: UInt32, _ size: RequestSize, from turns: MemoryTurns,
        while isWanted: @escaping @Sendable () -> Bool
    ) {
        self.user = user
        self.size = size
        self.turns = turns
        self.isWanted = isWanted
    }

    func end() {
        isCharged.withLock { isCharged in
            if isCharged { turns.end(of: user, size: size.memory) }
            isCharged = false
        }
    }

    /// Runs `body`, which waits for a person, a server or another request, and makes the memory
    /// available to others meanwhile.
    func paused<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        end()
        defer { resume() }
        return try body()
    }

    /// Waits until it is the request's turn again.
    ///
    /// If the client has gone, the request continues without a turn: the remaining work is small
    /// and ends soon.
    private func resume() {
        // An error while waiting is ignored, because the vault's state must be recorded in any
        // case.
        let hasBegun = ifPossible(
            try turns.begin(
                of: user, size: size.memory, timeout: .seconds(3600), while: isWanted))
        isCharged.withLock { $0 = hasBegun ?? false }
    }
}
