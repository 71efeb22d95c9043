import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// A vault for a verb that shows secrets, after a check of what opens the vault.
enum SecretsVault {
    case own(UnlockedVault)
    /// The agent checked this opener for the connection.
    case held(AgentVault, VaultOpener)

    var entries: [EntrySummary] {
        switch self {
        case .own(let vault): vault.entries
        case .held(let vault, _): vault.entries
        }
    }
}

extension Session {
    /// The vault for a verb that shows secrets: this always asks for what opens the vault.
    func openVaultForSecrets() throws(CommandFailure) -> SecretsVault {
        let vault: AgentVault
        switch try openVault() {
        case .own(let vault): return .own(vault)
        case .held(let held): vault = held
        }
        return .held(vault, try proveAgain(vault))
    }

    /// Proves again what opens a vault that the agent holds; asks for it unless it was just given.
    @discardableResult func proveAgain(_ vault: AgentVault) throws(CommandFailure) -> VaultOpener {
        let path = vault.place.path
        var known = vault.opener
        if known == nil { known = try deviceOpener(path, slots: vault.slots) }
        if let known {
            try prove(known, to: vault, path)
            return known
        }
        return try attempting(path) { () throws(CommandFailure) in
            try lockOut(of: vault)
        } unlock: { () throws(CommandFailure) in
            let opener = try opener(slots: vault.slots)
            try prove(opener, to: vault, path)
            return opener
        }
    }

    private func prove(
        _ opener: VaultOpener, to vault: AgentVault, _ path: String
    ) throws(CommandFailure) {
        let began = SystemClock.unixTime()
        let request = AgentRequest.prove(vault.place, opener, ceiling: try unlockCeiling())
        switch try exchange(request, with: vault.client) {
        case .done: return
        case .failed(let error):
            throw refusal(error, at: path) { () throws(CommandFailure) in
                try status(of: vault, since: began)
            }
        case .notHeld: throw .agentLocked(nil)
        case .locked(let reason): throw .agentLocked(reason)
        default: throw .agent(.malformed)
        }
    }

    /// Opens `entry`.
    func content(
        of entry: EntrySummary, in vault: SecretsVault, for use: EntryUse
    ) throws(CommandFailure) -> EntryContent {
        switch vault {
        case .own(let vault): return try content(of: entry, in: vault, for: use)
        case .held(let vault, let opener):
            // What opened the vault counts for one entry, as without the agent.
            let given = use.isFurther ? nil : opener
            let response = try agentResponse(for: entry, in: vault, for: use, given: given) {
                .contents(vault.place, [entry.id], $0, isUse: use == .show)
            }
            guard case .contents(let contents) = response, contents.count == 1 else {
                throw .agent(.malformed)
            }
            return contents[0]
        }
    }

    /// Opens `entry`, which has codes.
    func credential(
        of entry: EntrySummary, in vault: SecretsVault, for use: EntryUse
    ) throws(CommandFailure) -> Credential {
        guard
            case .oneTimePassword(let credential) = try content(of: entry, in: vault, for: use)
        else { throw .noCodes(entry.name.visible, entry.kind) }
        return credential
    }

    /// Opens entries that require no check of their own.
    func contents(
        of entries: [EntrySummary], in vault: SecretsVault, for use: EntryUse
    ) throws(CommandFailure) -> [EntryContent] {
        switch vault {
        case .own(let vault):
            return try entries.map { entry throws(CommandFailure) in
                try content(of: entry, in: vault, for: use)
            }
        case .held(let vault, _):
            var contents: [EntryContent] = []
            while contents.count < entries.count {
                let next = entries[contents.count...].prefix(AgentRequest.mostContents)
                contents += try self.contents(of: next.map(\.id), by: vault)
            }
            return contents
        }
    }

    private func contents(
        of ids: [RecordID], by vault: AgentVault
    ) throws(CommandFailure) -> [EntryContent] {
        let request = AgentRequest.contents(vault.place, ids, .none, isUse: false)
        guard
            case .contents(let contents) = try heldResponse(
                exchange(request, with: vault.client), by: vault),
            contents.count == ids.count
        else { throw .agent(.malformed) }
        return contents
    }

    /// Records that `entry` was used; the agent does it itself.
    func recordUse(of entry: EntrySummary, in vault: SecretsVault) throws(CommandFailure) {
        if case .own(let vault) = vault { try recordUse(of: entry, in: vault) }
    }
}
