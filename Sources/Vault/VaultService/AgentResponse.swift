package import Devices
package import SecretVault
package import WatchwordCryptography

/// What the agent answers; only ``contents(_:)`` contains secrets, and no answer a vault's key.
package enum AgentResponse: Sendable {
    /// It is done.
    case done
    /// The agent does not hold this vault.
    case notHeld
    /// The agent has just locked the vault, for this reason.
    case locked(LockReason)
    /// There is no locked memory for the vault's key, so the agent does not hold it.
    case notLocked
    /// The agent cannot reach the vault's folder; it can reach the folders that it was started for.
    case outOfReach
    /// The vault is being moved to or from the system agent, and cannot be used until that is
    /// finished.
    case moving
    case standing(VaultStanding)
    /// A copy of the vault, which is being moved to its user.
    case parcel(VaultParcel)
    case listing(VaultListing)
    /// What ``AgentRequest/find(_:_:_:)`` found, and the code of the only entry.
    case found(VaultListing, IssuedCode)
    case code(IssuedCode)
    /// The offset of the step that a code matches; `nil` if it matches none.
    case match(Int?)
    case lockOut(LockOut)
    case check(VaultCheck)
    case status(AgentStatus)
    /// The outcome of an edit, and what to report about the save.
    case edited(EditOutcome, [VaultReport])
    /// The answer to a task of `login` or `key`, in the encoding of `DeviceLogin`, and what to report about the
    /// save; it contains at most a login ticket.
    case login(SecretBytes, [VaultReport])
    /// The secrets of entries, for a verb that shows them.
    case contents([EntryContent])
    /// The vault refused or failed.
    case failed(VaultError)
    /// The presence check failed, at this cost.
    case refused(RefusalCost)
    /// The system's modules gave no verdict.
    case noVerdict(PAMCheckFailure)
    /// The entry has no such code.
    case noCode
    /// A module's message for the person at the client.
    case says(String)
    /// A module's question; answered with ``AgentRequest/answer(_:)``.
    case asks(String, isEchoed: Bool)
    /// A TPM's question for the PIN of a device key, again after a wrong one; answered with
    /// ``AgentRequest/answer(_:)``.
    ///
    /// - Parameter left: how many more attempts the TPM allows, if it tells.
    case asksPIN(isRepeated: Bool, left: UInt64?)
    /// The request was not understood.
    case misunderstood
    /// The agent has another version.
    case otherVersion
    /// Too many clients are connected.
    case tooManyClients
}

/// A vault that the system agent keeps, as it is known without its key.
package struct VaultStanding: Sendable {
    package let slots: [SlotSummary]
    package let status: VaultStatus
    /// Whether it is unlocked for all connections of its user.
    package let isHeld: Bool
    /// Whether it is being moved to or from the agent, and cannot be used.
    package let isMoving: Bool
    package let identity: VaultIdentity

    package init(
        slots: [SlotSummary], status: VaultStatus, isHeld: Bool, isMoving: Bool,
        identity: VaultIdentity
    ) {
        self.slots = slots
        self.status = status
        self.isHeld = isHeld
        self.isMoving = isMoving
        self.identity = identity
    }
}

/// Why the agent locked a vault.
package enum LockReason: UInt8, CaseIterable, Sendable {
    /// Its file was replaced by one that lacks its last changes: an older or a diverged one.
    case olderFile
    /// Its file was replaced by another vault.
    case otherVault
    /// It has a new key.
    case rekeyed
}

/// The entries of a vault and what is known about it.
package struct VaultListing: Sendable {
    package let generation: UInt64
    package let entries: [ListedEntry]
    package let slots: [SlotSummary]
    package let reports: [VaultReport]
    package let uses: [EntryUse]

    /// When an entry was last used, in Unix seconds.
    package struct EntryUse: Sendable {
        package let id: RecordID
        package let time: Int64

        package init(id: RecordID, time: Int64) {
            self.id = id
            self.time = time
        }
    }

    package init(
        generation: UInt64, entries: [ListedEntry], slots: [SlotSummary], reports: [VaultReport],
        uses: [EntryUse]
    ) {
        self.generation = generation
        self.entries = entries
        self.slots = slots
        self.reports = reports
        self.uses = uses
    }
}

/// A code, and the counter of a counter-based one.
package struct IssuedCode: Sendable {
    package let text: String
    package let counter: UInt64?

    package init(text: String, counter: UInt64?) {
        self.text = text
        self.counter = counter
    }
}

/// What the agent holds.
package struct AgentStatus: Sendable {
    /// One vault.
    package struct Vault: Sendable {
        package let path: String
        /// The time until the agent locks it, if it is not used.
        package let idle: Duration
        /// The time until the agent locks it in any case.
        package let total: Duration

        package init(path: String, idle: Duration, total: Duration) {
            self.path = path
            self.idle = idle
            self.total = total
        }
    }

    package let process: Int32
    /// Whether the kernel limits the files that the agent can open.
    package let limitsFiles: Bool
    /// Whether it keeps keys only where they are never written to swap.
    package let locksKeys: Bool
    /// The folders for which a user's own agent was started; empty for the system agent.
    package let folders: [String]
    package let vaults: [Vault]

    package init(
        process: Int32, limitsFiles: Bool, locksKeys: Bool, folders: [String] = [],
        vaults: [Vault]
    ) {
        self.process = process
        self.limitsFiles = limitsFiles
        self.locksKeys = locksKeys
        self.folders = folders
        self.vaults = vaults
    }
}
