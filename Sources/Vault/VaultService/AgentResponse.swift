package import Devices
package import SecretVault
package import WatchwordCryptography
package import WatchwordSystem

/// What the agent answers; only ``contents(_:)`` and ``parcel(_:)`` contain secrets, and no answer a
/// vault's key.
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
    /// The vault has arrived, and its entries that were bound to this device have a new binding.
    case moved(DeviceBinding)
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
    /// What undoing the last change does, or has done; and what to report about the save.
    ///
    /// - Parameter onlyRestores: whether it only restores entries that have vanished.
    case undone([UndoneChange], onlyRestores: Bool, [VaultReport])
    /// What merging the other file does, or has done; and what to report about the save.
    case merged(MergeOutline, [VaultReport])
    /// The vault's key does not open the other file.
    case otherKey
    /// The response to a request of `login` or `key`, in the encoding of `DeviceLogin`, and what to
    /// report about the save; it contains at most a login ticket.
    case login(SecretBytes, [VaultReport])
    /// The secrets of entries, for a verb that shows them.
    case contents([EntryContent])
    /// The vault refused or failed.
    case failed(VaultError)
    /// The presence check failed, at this cost.
    case refused(RefusalCost)
    /// The system's modules gave no verdict.
    case noVerdict(PAMCheckFailure)
    /// The client must first prove once more that it can open the vault, because of the fingers
    /// that are enrolled.
    case fingersDiffer(FingerDifference)
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

extension AgentResponse: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case done, notHeld, locked, outOfReach, listing, code, match, lockOut, check
        case status, failed, refused, noVerdict, noCode, says, asks, misunderstood, otherVersion
        case tooManyClients, edited, contents, moving, standing, login, parcel, found, asksPIN
        case notLocked, fingersDiffer, moved, undone, merged, otherKey
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .done: output.append(Kind.done)
        case .notHeld: output.append(Kind.notHeld)
        case .locked(let reason): output.append(Kind.locked, reason)
        case .outOfReach: output.append(Kind.outOfReach)
        case .notLocked: output.append(Kind.notLocked)
        case .moving: output.append(Kind.moving)
        case .standing(let standing): output.append(Kind.standing, standing)
        case .parcel(let parcel): output.append(Kind.parcel, parcel)
        case .moved(let binding): output.append(Kind.moved, binding)
        case .listing(let listing): output.append(Kind.listing, listing)
        case .found(let listing, let code): output.append(Kind.found, listing, code)
        case .code(let code): output.append(Kind.code, code)
        case .match(let offset): output.append(Kind.match, offset)
        case .lockOut(let lockOut): output.append(Kind.lockOut, lockOut)
        case .check(let check): output.append(Kind.check, check)
        case .status(let status): output.append(Kind.status, status)
        case .edited(let outcome, let reports): output.append(Kind.edited, outcome, reports)
        case .failed(let error): output.append(Kind.failed, error)
        case .refused(let cost): output.append(Kind.refused, cost)
        case .noVerdict(let failure): output.append(Kind.noVerdict, failure)
        case .fingersDiffer(let difference): output.append(Kind.fingersDiffer, difference)
        case .noCode: output.append(Kind.noCode)
        case .undone(let changes, let onlyRestores, let reports):
            output.append(Kind.undone, changes, onlyRestores, reports)
        case .merged(let outline, let reports): output.append(Kind.merged, outline, reports)
        case .otherKey: output.append(Kind.otherKey)
        case .login(let answer, let reports): output.append(Kind.login, answer, reports)
        case .contents(let contents): output.append(Kind.contents, contents)
        case .says(let text): output.append(Kind.says, text)
        case .asks(let text, let isEchoed): output.append(Kind.asks, text, isEchoed)
        case .asksPIN(let isRepeated, let left): output.append(Kind.asksPIN, isRepeated, left)
        case .misunderstood: output.append(Kind.misunderstood)
        case .otherVersion: output.append(Kind.otherVersion)
        case .tooManyClients: output.append(Kind.tooManyClients)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .done: .done
            case .notHeld: .notHeld
            case .locked: try fields.make(Self.locked, from: bytes)
            case .outOfReach: .outOfReach
            case .notLocked: .notLocked
            case .moving: .moving
            case .standing: try fields.make(Self.standing, from: bytes)
            case .parcel: try fields.make(Self.parcel, from: bytes)
            case .moved: try fields.make(Self.moved, from: bytes)
            case .listing: try fields.make(Self.listing, from: bytes)
            case .found: try fields.make(Self.found, from: bytes)
            case .code: try fields.make(Self.code, from: bytes)
            case .match: try fields.make(Self.match, from: bytes)
            case .lockOut: try fields.make(Self.lockOut, from: bytes)
            case .check: try fields.make(Self.check, from: bytes)
            case .status: try fields.make(Self.status, from: bytes)
            case .edited: try fields.make(Self.edited, from: bytes)
            case .failed: try fields.make(Self.failed, from: bytes)
            case .refused: try fields.make(Self.refused, from: bytes)
            case .noVerdict: try fields.make(Self.noVerdict, from: bytes)
            case .fingersDiffer: try fields.make(Self.fingersDiffer, from: bytes)
            case .noCode: .noCode
            case .undone: try fields.make(Self.undone, from: bytes)
            case .merged: try fields.make(Self.merged, from: bytes)
            case .otherKey: .otherKey
            case .login: try fields.make(Self.login, from: bytes)
            case .contents: try fields.make(Self.contents, from: bytes)
            case .says: try fields.make(Self.says, from: bytes)
            case .asks: try fields.make(Self.asks, from: bytes)
            case .asksPIN: try fields.make(Self.asksPIN, from: bytes)
            case .misunderstood: .misunderstood
            case .otherVersion: .otherVersion
            case .tooManyClients: .tooManyClients
            }
    }
}

extension VaultStanding: Transferable {
    package func write(to output: FrameWriter) {
        output.append(slots, status, isHeld, isMoving, identity)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension VaultListing: Transferable {
    package func write(to output: FrameWriter) {
        output.append(generation, entries, slots, reports, uses)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension VaultListing.EntryUse: Transferable {
    package func write(to output: FrameWriter) { output.append(id, time) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension IssuedCode: Transferable {
    package func write(to output: FrameWriter) { output.append(text, counter) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension AgentStatus: Transferable {
    package func write(to output: FrameWriter) {
        output.append(process, limitsFiles, locksKeys, folders, vaults)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension AgentStatus.Vault: Transferable {
    package func write(to output: FrameWriter) { output.append(path, idle, total) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension LockReason: Transferable {}

/// Why the fingers that are enrolled do not protect an entry as they did.
package enum FingerDifference: UInt8, CaseIterable, Sendable {
    /// They are not those that were enrolled when the entry was protected.
    case changed
    /// None is enrolled.
    case noFinger
    /// fprintd does not report which are enrolled.
    case unreachable
    /// The agent's record of them is damaged.
    case damaged
}

extension FingerDifference: Transferable {}
