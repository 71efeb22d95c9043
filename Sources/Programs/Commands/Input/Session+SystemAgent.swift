import CommandLineInterface
import Devices
import SecretVault
import VaultService
import WatchwordSystem

/// The vault that the system agent keeps for this user.
struct SystemVault {
    let client: AgentClient
    let standing: VaultStanding

    var place: VaultPlace { .ofSystem }
}

extension Session {
    private var usesDefaultVault: Bool {
        arguments[.vault] == nil && Environment.value("WATCHWORD_VAULT") == nil
    }

    /// Requires a vault at `path` for `body`.
    func requiringVault<Result>(at path: String, _ body: () throws -> Result) throws -> Result {
        do {
            try CommandFailure.naming(path) {
                guard try Vault.isTaken(path) else { throw VaultError.notFound }
            }
            return try body()
        } catch CommandFailure.at(let place, VaultError.notFound) {
            // The vault may have moved to the system agent meanwhile.
            guard try systemVault() == nil else { throw CommandFailure.moveUnfinished }
            if usesDefaultVault, try SystemAgent.isStopped() {
                throw CommandFailure.noVaultWhileStopped(place)
            }
            throw CommandFailure.at(
                place, Vault.holdsPrevious(at: path) ? VaultError.previousLeft : .notFound)
        }
    }

    /// The vault that the system agent keeps for this user.
    ///
    /// - Returns: `nil` if this run uses a different vault: a specified vault, or the default vault
    ///   in the user's data folder if it exists.
    func systemVault() throws -> SystemVault? {
        guard let client = try systemAgent(), let standing = try standing(of: client) else {
            return nil
        }
        guard !standing.isMoving else { throw CommandFailure.moveUnfinished }
        return SystemVault(client: client, standing: standing)
    }

    /// The system agent, if it may keep the vault that this run uses.
    func systemAgent() throws -> AgentClient? {
        guard usesDefaultVault else { return nil }
        if let path = standardVaultPath(), try Vault.isTaken(path) { return nil }
        return try SystemAgent.connect()
    }

    /// The state of this user's vault in the system agent; `nil` if the agent keeps none.
    func standing(of client: AgentClient, since began: Int64 = 0) throws -> VaultStanding? {
        try standing(in: client.send(.standing(.ofSystem, since: began)))
    }

    private func standing(in response: AgentResponse) throws -> VaultStanding? {
        switch response {
        case .standing(let standing): return standing
        case .failed(.notFound): return nil
        case .failed(let error):
            throw CommandFailure.at(VisibleText.of(VaultPlace.ofSystem.path), error)
        default: throw AgentFailure.malformed
        }
    }

    /// The cost of failures since `began`; `nil` if it is unknown.
    func status(of vault: any OpenVault, since began: Int64) throws -> VaultStatus? {
        guard vault.isKeptBySystem else { return try status(vault.path, since: began) }
        let request = AgentRequest.standing(vault.place, since: began)
        return try standing(in: vault.send(request))?.status
    }

    /// The seconds for which the vault is locked.
    func lockOut(of vault: any OpenVault) throws -> Int64 {
        guard vault.isKeptBySystem else { return try lockOut(of: vault.path) }
        return try status(of: vault, since: 0)?.lockOut.seconds ?? 0
    }

    /// The vault that the system agent keeps, after printing its reports.
    ///
    /// If it is locked, this asks for the passphrase, and the agent opens it for this command only.
    ///
    /// - Parameters:
    ///   - search: the only entries that the command needs; `nil` for all.
    ///   - asks: whether to ask for the passphrase; if not, the result may be `nil`.
    ///   - inMerge: as for ``unlock(inMerge:)``.
    func openSystemVault(
        for search: NameSearch? = nil, asks: Bool = true, inMerge: Bool = false
    ) throws -> AgentVault? {
        guard allowsAgent, !arguments.has(.readOnly), let vault = try systemVault() else {
            return nil
        }
        let listing: VaultListing
        var response: AgentResponse?
        var used: VaultOpener?
        if vault.standing.isHeld {
            let request = listRequest(of: vault.place, for: search)
            let held = try vault.client.send(request)
            response = held
            switch held {
            case .listing(let found), .found(let found, _): listing = found
            case .locked(let reason): throw CommandFailure.agentLocked(reason)
            case .moving, .failed(.notFound): throw CommandFailure.moveUnfinished
            default: throw CommandFailure.agentLocked(nil)
            }
        } else {
            guard asks else { return nil }
            let ceiling = try unlockCeiling()
            listing = try unlocked(vault) { opener in
                used = opener
                return .open(vault.place, opener, ceiling: ceiling)
            }
        }
        let opened = AgentVault(
            vault.client, vault.place, listing, openedBy: used, identity: vault.standing.identity)
        if let response { opened.keepCode(from: response, at: search?.time) }
        printReports(listing.reports, of: opened.entries, inMerge: inMerge)
        return opened
    }

    /// Asks for the passphrase or the recovery key, and has the system agent open the vault.
    ///
    /// - Parameter mayUseWindow: whether to prompt in a window if there is no terminal.
    func unlocked(
        _ vault: SystemVault, mayUseWindow: Bool = false,
        _ request: (VaultOpener) -> AgentRequest
    ) throws -> VaultListing {
        let response = try askingForOpener(of: vault, mayUseWindow: mayUseWindow, request)
        guard case .listing(let listing) = response else { throw AgentFailure.malformed }
        return listing
    }

    /// Asks for the passphrase or the recovery key, and sends a request with it; up to three times
    /// if it is wrong.
    func askingForOpener(
        of vault: SystemVault, mayUseWindow: Bool = false,
        _ request: (VaultOpener) -> AgentRequest
    ) throws -> AgentResponse {
        func lockOut() throws -> Int64 {
            try standing(of: vault.client)?.status.lockOut.seconds ?? 0
        }
        func send(_ opener: VaultOpener) throws -> AgentResponse {
            let began = SystemClock.unixTime()
            let person = RelayedQuestions(
                purpose: Messages.purposeOfMove, until: vault.client.readable, session: self)
            let response = try vault.client.send(request(opener), asking: person.answer)
            switch response {
            // The vault existed before this request, so it is being moved.
            case .moving, .failed(.notFound): throw CommandFailure.moveUnfinished
            case .notLocked: throw CommandFailure.keyNotLocked(bySystem: true)
            case .refused(let cost): throw CommandFailure.moveRefused(cost)
            case .noVerdict(let failure):
                throw CommandFailure.moveUnchecked(person.explained(failure))
            case .failed(let error):
                throw refusal(error, at: vault.place.path) {
                    try standing(of: vault.client, since: began)?.status
                }
            default: return response
            }
        }
        return try withOpener(
            of: vault.place.path, among: vault.standing.slots, mayUseWindow: mayUseWindow,
            lockOut: lockOut, send)
    }
}
