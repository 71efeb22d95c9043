import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordSystem

/// The vault that a command uses: opened by this process, or held by the agent.
enum OpenVault {
    case own(UnlockedVault)
    case held(AgentVault)

    /// The entries; from the agent, possibly only those that the requested names find.
    var entries: [EntrySummary] {
        switch self {
        case .own(let vault): vault.entries
        case .held(let vault): vault.entries
        }
    }

    /// The ways to open the vault.
    var slots: [SlotSummary] {
        switch self {
        case .own(let vault): vault.slots
        case .held(let vault): vault.slots
        }
    }

    /// When each entry was last used on this machine, in Unix seconds, as far as that is known.
    var lastUses: [RecordID: Int64] {
        switch self {
        case .own(let vault): vault.lastUses
        case .held(let vault): vault.lastUses
        }
    }

    /// The counter for the next code of an entry; `nil` if it has none.
    func counter(of entry: EntrySummary) -> UInt64? {
        switch self {
        case .own(let vault):
            // A damaged entry is listed without its counter; `check` reports the damage.
            do { return try vault.counter(of: entry.id) } catch { return nil }
        case .held(let vault): return vault.counters[entry.id]
        }
    }

    /// Whether the system agent keeps the vault, so that its checks run as another user.
    var isKeptBySystem: Bool {
        guard case .held(let vault) = self else { return false }
        return vault.client.isSystem
    }

    /// Whether `file` is a copy or another generation of this vault.
    func isSameVault(_ file: [UInt8]) throws(VaultError) -> Bool {
        switch self {
        case .own(let vault): try vault.isSameVault(file)
        case .held(let vault):
            if let identity = vault.identity {
                try Vault.identity(of: file).isSameVault(as: identity)
            } else {
                try Vault.isSame(file, at: vault.place.path)
            }
        }
    }
}

/// A vault that the agent holds.
struct AgentVault {
    let client: AgentClient
    let place: VaultPlace
    let generation: UInt64
    let entries: [EntrySummary]
    let slots: [SlotSummary]
    let lastUses: [RecordID: Int64]
    /// The counters of counter-based entries.
    let counters: [RecordID: UInt64]
    /// What opened the vault for this command; `nil` if it was unlocked already.
    let opener: VaultOpener?
    /// The code of the only entry, if the agent has computed it already.
    var code: FoundCode?
    /// The state of a file that this process cannot read: the system agent's; otherwise `nil`.
    let identity: VaultIdentity?

    init(
        _ client: AgentClient, _ place: VaultPlace, _ listing: VaultListing,
        openedBy opener: VaultOpener? = nil, identity: VaultIdentity? = nil
    ) {
        self.identity = identity
        self.client = client
        self.place = place
        self.opener = opener
        generation = listing.generation
        entries = listing.entries.map(\.summary)
        slots = listing.slots
        lastUses = Dictionary(
            listing.uses.map { ($0.id, $0.time) }, uniquingKeysWith: { max($0, $1) })
        counters = Dictionary(
            listing.entries.compactMap { entry in
                entry.counter.map { (entry.summary.id, $0) }
            }, uniquingKeysWith: { max($0, $1) })
    }
}

/// The names of the only entries that a command needs.
struct NameSearch {
    let names: [String]
    /// The time of the code that is needed of a single entry; `nil` for none.
    var time: CodeTime?
}

/// A code that the agent has computed when it found the entry.
struct FoundCode {
    let text: String
    /// Its time in Unix seconds, and the number of steps after that.
    let moment: Int64
    let offset: UInt64
}

extension AgentVault {
    /// Keeps the code that came with the listing.
    mutating func keepCode(from response: AgentResponse, for search: NameSearch?) {
        guard case .found(_, let issued) = response,
            case .moment(let moment, let offset, _) = search?.time
        else { return }
        code = FoundCode(text: issued.text, moment: moment, offset: offset)
    }
}

extension Session {
    /// The vault, held by the agent or unlocked here, after printing its reports.
    ///
    /// - Parameters:
    ///   - search: the only entries that the command needs; `nil` for all.
    ///   - others: options with another meaning in this command, with which the agent is used, too.
    func openVault(
        for search: NameSearch? = nil, despite others: [Option] = []
    ) throws(CommandFailure) -> OpenVault {
        if let vault = try heldVault(for: search, despite: others) { return .held(vault) }
        if let vault = try openSystemVault(for: search) { return .held(vault) }
        return .own(try unlock())
    }

    /// Whether agents may be used at all.
    var allowsAgent: Bool {
        let isOff = Environment.value("WATCHWORD_AGENT")?.lowercased() == "off"
        return !isOff && !arguments.has(.noAgent)
    }

    /// Whether the agent may be used: not if an option says how this process opens the vault.
    ///
    /// - Parameter others: options that do not say this.
    private func usesAgent(despite others: [Option]) -> Bool {
        let direct: [Option] = [
            .passphraseFile, .recoveryKey, .recoveryKeyFile, .unlockWith, .pinFile, .tpm,
            .readOnly,
        ]
        let given = direct.filter(arguments.has)
        return allowsAgent
            && given.allSatisfy { option in
                others.contains { $0.name == option.name }
            }
    }

    /// The vault, if the agent holds it and may be used, after printing its reports.
    func heldVault(
        for search: NameSearch? = nil, despite others: [Option] = []
    ) throws(CommandFailure) -> AgentVault? {
        guard usesAgent(despite: others) else { return nil }
        let client: AgentClient
        do {
            client = try AgentClient()
        } catch .notRunning {
            return nil
        } catch {
            printer.warn(Messages.sentence(for: error) + "; the vault is unlocked without it")
            return nil
        }
        let place: VaultPlace
        // A vault whose folder is missing is reported below.
        do { place = try VaultPlace(at: vaultPath()) } catch let error as CommandFailure {
            throw error
        } catch {
            return nil
        }
        func listing() -> AgentResponse? {
            do { return try client.send(listRequest(of: place, for: search)) } catch {
                printer.warn(
                    Messages.sentence(for: error) + "; the vault is unlocked without it")
                return nil
            }
        }
        guard var response = listing() else { return nil }
        if case .failed(.openToOthers) = response {
            // A program such as git has replaced the file.
            try correctPermissions(of: vaultPath())
            guard let corrected = listing() else { return nil }
            response = corrected
        }
        switch response {
        case .listing(let listing), .found(let listing, _):
            var vault = AgentVault(client, place, listing)
            vault.keepCode(from: response, for: search)
            printReports(listing.reports, of: vault.entries)
            return vault
        case .locked(let reason):
            printer.alarm(Messages.sentence(for: reason))
            return nil
        case .notHeld:
            printer.note(Messages.locked(program))
            return nil
        // Opening the vault here reports what is wrong with it.
        default: return nil
        }
    }

    /// Asks for the entries that a search finds; for all if there is none.
    func listRequest(of place: VaultPlace, for search: NameSearch?) -> AgentRequest {
        search.map { .entries(named: $0.names, in: place, codeAt: $0.time) } ?? .list(place)
    }

    /// Converts a refusal that concerns the whole vault to a `CommandFailure`.
    func heldResponse(
        _ response: AgentResponse, by vault: AgentVault
    ) throws(CommandFailure) -> AgentResponse {
        switch response {
        case .notHeld: throw .agentLocked(nil)
        case .locked(let reason): throw .agentLocked(reason)
        case .moving: throw .moveUnfinished
        case .failed(.notFound) where vault.client.isSystem: throw .moveUnfinished
        case .failed(let error): throw .vault(VisibleText.of(vault.place.path), error)
        default: return response
        }
    }

    /// Sends a request to the agent.
    func exchange(
        _ request: AgentRequest, with client: AgentClient
    ) throws(CommandFailure) -> AgentResponse {
        do { return try client.send(request) } catch { throw .agent(error) }
    }
}
