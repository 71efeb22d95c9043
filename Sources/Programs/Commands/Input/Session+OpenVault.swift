import CommandLineInterface
import DeviceLogin
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// The names of the only entries that a command needs.
struct NameSearch {
    let names: [String]
    /// The time of the code that the command needs of a single entry; `nil` if it needs no code.
    var time: CodeTime?
}

extension Session {
    /// The vault, held by the agent or unlocked here, after printing its reports.
    ///
    /// - Parameters:
    ///   - search: the only entries that the command needs; `nil` for all.
    ///   - others: options that have a different meaning in this command and do not prevent the use
    ///     of the agent.
    ///   - choice: the check that precedes the use of a new device key.
    func openVault(
        for search: NameSearch? = nil, despite others: [Option] = [],
        enrollingUnder choice: CheckChoice? = nil
    ) throws -> any OpenVault {
        if let vault = try agentsVault(for: search, despite: others) { return vault }
        let vault = try unlock()
        return OwnVault(vault, at: try vaultPath(), deviceKeys: deviceKeyStore) { access in
            choice?.keyPresence(
                under: access, unlockingProvesPresence: vault.unlockingProvesPresence) ?? .none
        }
    }

    /// The vault, if an agent holds it or keeps it, after printing its reports.
    ///
    /// - Parameter inMerge: as for ``unlock(inMerge:)``.
    func agentsVault(
        for search: NameSearch? = nil, despite others: [Option] = [], inMerge: Bool = false
    ) throws -> AgentVault? {
        try heldVault(for: search, despite: others, inMerge: inMerge)
            ?? openSystemVault(for: search, inMerge: inMerge)
    }

    /// The vault for a verb that shows secrets: this always asks for what opens the vault.
    func openVaultForSecrets() throws -> any OpenVault {
        let vault = try openVault()
        // It also counts for one entry, as if this process had opened the vault.
        vault.opener = try proveAgain(vault)
        return vault
    }

    /// The folder of this user's device keys, as the XDG Base Directory Specification defines it;
    /// `nil` without a home folder.
    static var deviceKeyFolder: String? {
        if let state = Environment.value("XDG_STATE_HOME"), state.hasPrefix("/") {
            return state + "/watchword/device-keys"
        }
        return Environment.value("HOME").map { $0 + "/.local/state/watchword/device-keys" }
    }

    /// The device keys of this user's own vaults.
    var deviceKeyStore: DeviceKeyStore {
        // Without a home folder, no device keys can exist.
        DeviceKeyStore(folder: Session.deviceKeyFolder ?? "/dev/null", bindings: [.tpm, .file])
    }

    /// Whether agents may be used at all.
    var allowsAgent: Bool {
        let isOff = Environment.value("WATCHWORD_AGENT")?.lowercased() == "off"
        return !isOff && !arguments.has(.noAgent)
    }

    /// Whether the agent may be used: not if an option specifies how this process opens the vault.
    ///
    /// - Parameter others: options that do not prevent this.
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
        for search: NameSearch? = nil, despite others: [Option] = [], inMerge: Bool = false
    ) throws -> AgentVault? {
        guard usesAgent(despite: others) else { return nil }
        func warn(of failure: AgentFailure) {
            printer.warn(Messages.sentence(for: failure) + "; the vault is unlocked without it")
        }
        let client: AgentClient
        do { client = try AgentClient() } catch {
            if error != .notRunning { warn(of: error) }
            return nil
        }
        let path = try vaultPath()
        // A vault whose folder is missing is reported later.
        guard let place = VaultPlace.existing(at: path) else { return nil }
        func listing() -> AgentResponse? {
            do { return try client.send(listRequest(of: place, for: search)) } catch {
                warn(of: error)
                return nil
            }
        }
        guard var response = listing() else { return nil }
        if case .failed(.openToOthers) = response {
            // A program such as git has replaced the file.
            try correctPermissions(of: path)
            guard let corrected = listing() else { return nil }
            response = corrected
        }
        switch response {
        case .listing(let listing), .found(let listing, _):
            let vault = AgentVault(client, place, listing)
            vault.path = path
            vault.keepCode(from: response, at: search?.time)
            printReports(listing.reports, of: vault.entries, inMerge: inMerge)
            return vault
        case .locked(let reason):
            printer.alarm(Messages.sentence(for: reason))
            return nil
        case .notHeld:
            printer.note(Messages.locked(program))
            return nil
        // If this process opens the vault, it reports the problem.
        default: return nil
        }
    }

    /// The entries after a change.
    func currentEntries(of vault: any OpenVault) throws -> [EntrySummary] {
        guard vault.isHeldByAgent else { return vault.entries }
        guard case .listing(let listing) = try expected(vault.send(.list(vault.place)), by: vault)
        else { throw AgentFailure.malformed }
        return listing.entries.map(\.summary)
    }

    /// Asks for the entries that a search finds; for all if there is none.
    func listRequest(of place: VaultPlace, for search: NameSearch?) -> AgentRequest {
        search.map { .entries(named: $0.names, in: place, codeAt: $0.time) } ?? .list(place)
    }
}
