internal import POSIX
internal import SecretVault
internal import VaultAgent

/// What the system agent limits, because one process serves all users.
struct MemoryLimits: Sendable {
    /// A user's key derivations, one after another.
    let derivations = MemoryTurns(total: .max)
    /// The memory of the derivations of all users.
    let derivationMemory = MemoryTurns(total: 1 << 30)
    /// Requests and responses with a whole vault.
    let vaults = MemoryTurns(total: 1 << 30)

    /// How long a request waits for its turn.
    static let timeout = Duration.seconds(30)
    /// How long a large request or response waits; its sender is waiting too.
    static let shortTimeout = Duration.seconds(5)
    /// The memory of a large request and of what is decoded from it.
    static let largeRequest = 2 * AgentProtocol.largestEdit
}

// How much memory the requests of one user and of all users take.
extension AgentServices {
    /// Runs `body`, which derives keys; in the system agent, when the turn of its user has come.
    ///
    /// - Parameters:
    ///   - ceiling: the maximum cost.
    ///   - isWanted: whether to go on waiting for the turn.
    ///   - slots: the ways to open the vault; `nil` if they are not known.
    /// - Throws: ``VaultError/busy`` if the turn does not come in time.
    func deriving<Result>(
        upTo ceiling: Int = Vault.defaultCeiling, while isWanted: () -> Bool = { true },
        with slots: () throws(VaultError) -> [SlotSummary]?,
        _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard case .account(let account) = reach else { return try body() }
        let user = account.user
        func begin(_ turns: MemoryTurns, _ size: Int) throws(VaultError) {
            let hasBegun: Bool
            do throws(SystemCallFailure) {
                hasBegun = try turns.begin(
                    of: user, size: size, timeout: MemoryLimits.timeout, while: isWanted)
            } catch {
                throw .system(error)
            }
            guard hasBegun else { throw .busy }
        }
        try begin(limits.derivations, 0)
        defer { limits.derivations.end(of: user) }
        // Without the slots, the most that the ceiling allows.
        let size = try slots()?.memoryOfDerivation(upTo: ceiling) ?? 1024 << ceiling
        try begin(limits.derivationMemory, size)
        defer { limits.derivationMemory.end(of: user) }
        return try body()
    }

    /// Whether a whole vault is read or sent to answer a request, and that one is large.
    func takesMuchMemory(_ request: AgentRequest) -> Bool {
        guard case .account(let account) = reach else { return false }
        switch request {
        case .move: return true
        case .list, .find, .standing, .check, .rehearse:
            let size = FileStamp(of: account.path)?.size ?? 0
            return size > HeldVaults.largestSmallFile
        default: return false
        }
    }

    /// Waits for the turn of this user's large request or response; ``endLargeRequest()`` ends it.
    ///
    /// - Parameters:
    ///   - needsVault: whether the user's vault must be open. Every user may move one to the agent.
    ///   - place: the place of the vault for the connection, if there is one.
    func refusalOfLargeRequest(
        needsVault: Bool, usedAt place: (VaultPlace) -> VaultPlace
    ) -> AgentResponse? {
        guard case .account(let account) = reach else { return nil }
        if needsVault {
            guard let own = account.place(), vaults.isHeld(place(own)) else { return .notHeld }
        }
        do throws(SystemCallFailure) {
            let hasBegun = try limits.vaults.begin(
                of: account.user, size: MemoryLimits.largeRequest,
                timeout: MemoryLimits.shortTimeout)
            return hasBegun ? nil : .failed(.busy)
        } catch {
            return .failed(.system(error))
        }
    }

    /// Ends the turn that ``refusalOfLargeRequest(needsVault:usedAt:)`` began.
    func endLargeRequest() {
        if case .account(let account) = reach { limits.vaults.end(of: account.user) }
    }
}

extension [SlotSummary] {
    /// The memory of the most expensive derivation whose cost is within `ceiling`.
    fileprivate func memoryOfDerivation(upTo ceiling: Int) -> Int {
        let costs = map { if case .passphrase(let logN) = $0.method { logN } else { 0 } }
        return 1024 << (costs.filter { $0 <= ceiling }.max() ?? 0)
    }
}
