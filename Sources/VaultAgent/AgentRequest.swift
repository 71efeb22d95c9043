package import Cryptography
package import SecretVault

/// What a client asks the agent to do.
package enum AgentRequest: Sendable {
    /// Opens a vault and holds its key; answered with its listing.
    case unlock(VaultPlace, VaultOpener, ceiling: Int, HoldingTime)
    /// Forgets the key of a vault.
    case lock(VaultPlace)
    /// Forgets all keys.
    case lockAll
    /// Says which vaults are held; no timer is reset.
    case status
    /// Ends the agent.
    case stop
    /// Lists the entries; no timer is reset.
    case list(VaultPlace)
    /// Computes a code.
    case code(VaultPlace, RecordID, CodeTime, AgentPresence)
    /// Compares a code.
    case verify(VaultPlace, RecordID, CodeComparison, AgentPresence)
    /// The failures that are counted against an entry.
    case lockOut(VaultPlace, RecordID)
    /// Opens every record.
    case check(VaultPlace)
    /// Changes the vault in one save.
    case edit(VaultPlace, VaultEdit, AgentPresence)
    /// Proves presence for an entry that the next edit on this connection changes.
    case confirm(VaultPlace, RecordID, AgentPresence)
    /// The outcome of an edit that is not saved, as if every presence check had succeeded.
    case rehearse(VaultPlace, VaultEdit)
    /// Proves again what opens the vault, so that this connection may show secrets.
    case prove(VaultPlace, VaultOpener, ceiling: Int)
    /// Opens entries for a verb that shows secrets; after ``prove(_:_:ceiling:)``, and after the
    /// check that an entry requires. A check is for a single entry.
    ///
    /// - Parameter isUse: whether to record that the entries were used.
    case contents(VaultPlace, [RecordID], AgentPresence, isUse: Bool)
    /// Answers a module's question; only after ``AgentResponse/asks(_:isEchoed:)``.
    case answer(SecretBytes)
    /// Cancels the check; only after ``AgentResponse/asks(_:isEchoed:)``.
    case cancel
}

extension AgentRequest {
    /// Whether answering it needs neither a key derivation nor a person, nor waits for another
    /// process.
    var isQuick: Bool {
        switch self {
        case .lock, .lockAll, .status, .stop, .list, .lockOut: true
        default: false
        }
    }
}
