package import Devices
package import SecretVault
package import WatchwordCryptography
package import WatchwordSystem

/// A response of the agent.
///
/// Only ``contents(_:)`` and ``parcel(_:)`` contain secrets; no response contains a vault's key.
package enum AgentResponse: Sendable {
    /// The request was carried out.
    case done
    /// The agent does not hold the vault that the request concerns.
    case notHeld
    /// The agent has just locked the vault, for this reason.
    case locked(LockReason)
    /// No locked memory is available for the vault's key, so the agent does not hold the vault.
    case notLocked
    /// The agent cannot reach the vault's folder; it can reach only the folders for which it was
    /// started.
    case outOfReach
    /// The vault is being moved to or from the system agent, and cannot be used until that is
    /// finished.
    case moving
    case standing(VaultStanding)
    /// A copy of the vault, which is being moved to the user's folder.
    case parcel(VaultParcel)
    /// The vault has arrived, and its entries that were bound to this device have a new binding.
    case moved(DeviceBinding)
    case listing(VaultListing)
    /// The entries that ``AgentRequest/find(_:_:_:)`` found, and the code if only one was found.
    case found(VaultListing, IssuedCode)
    case code(IssuedCode)
    /// The offset of the step that a code matches; `nil` if the code matches none.
    case match(Int?)
    case lockOut(LockOut)
    case check(VaultCheck)
    case status(AgentStatus)
    /// The outcome of an edit, and the warnings about the save.
    case edited(EditOutcome, [VaultReport])
    /// The planned or completed changes of an undo, and the warnings about the save.
    ///
    /// - Parameter onlyRestores: whether the undo only restores entries that have vanished.
    case undone([UndoneChange], onlyRestores: Bool, [VaultReport])
    /// The planned or completed changes of a merge, and the warnings about the save.
    case merged(MergeOutline, [VaultReport])
    /// The vault's key does not open the other file.
    case otherKey
    /// The response to a request of `login` or `key`, in the encoding of `DeviceLogin`, and the
    /// warnings about the save. The only secret in it may be a login ticket.
    case login(SecretBytes, [VaultReport])
    /// The secrets of entries, for a command that shows them.
    case contents([EntryContent])
    /// The vault refused the request, or failed.
    case failed(VaultError)
    /// The presence check failed, with this consequence.
    case refused(RefusalCost)
    /// The system's PAM modules returned no verdict.
    case noVerdict(PAMCheckFailure)
    /// The client must first prove again that it can open the vault, because the enrolled fingers
    /// do not protect the entry for this reason.
    case fingersDiffer(FingerDifference)
    /// The entry has no code of the requested kind.
    case noCode
    /// A PAM module's message for the person at the client.
    case says(String)
    /// A PAM module's question; answered with ``AgentRequest/answer(_:)``.
    case asks(String, isEchoed: Bool)
    /// A TPM's request for the PIN of a device key, again after a wrong one; answered with
    /// ``AgentRequest/answer(_:)``.
    ///
    /// - Parameter left: how many more attempts the TPM allows; `nil` if unknown.
    case asksPIN(isRepeated: Bool, left: UInt64?)
    /// The request was not understood.
    case misunderstood
    /// The agent has a different version.
    case otherVersion
    /// Too many clients are connected.
    case tooManyClients
}

/// A vault that the system agent keeps, with the properties that are known without its key.
package struct VaultStanding: Sendable {
    package let slots: [SlotSummary]
    package let status: VaultStatus
    /// Whether the vault is unlocked for all connections of its user.
    package let isHeld: Bool
    /// Whether the vault is being moved to or from the agent, and cannot be used.
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

/// The reason why the agent locked a vault.
package enum LockReason: UInt8, CaseIterable, Sendable {
    /// The vault's file was replaced by an older or a diverged file, which lacks its last changes.
    case olderFile
    /// The vault's file was replaced by a different vault.
    case otherVault
    /// The vault was rekeyed.
    case rekeyed
}

/// The entries of a vault, with its slots, reports and last uses.
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

/// A code, and the counter if the code is counter-based.
package struct IssuedCode: Sendable {
    package let text: String
    package let counter: UInt64?

    package init(text: String, counter: UInt64?) {
        self.text = text
        self.counter = counter
    }
}

/// The vaults that the agent holds, and its settings.
package struct AgentStatus: Sendable {
    package struct Vault: Sendable {
        package let path: String
        /// The time until the agent locks the vault if it is not used.
        package let idle: Duration
        /// The time until the agent locks the vault in any case.
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
    /// Whether the agent keeps keys only in memory that is never written to swap.
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

/// The reason why the enrolled fingers no longer protect an entry.
package enum FingerDifference: UInt8, CaseIterable, Sendable {
    /// The enrolled fingers differ from those enrolled when the entry was protected.
    case changed
    /// No finger is enrolled.
    case noFinger
    /// fprintd does not report which fingers are enrolled.
    case unreachable
    /// The agent's record of the fingers is damaged.
    case damaged
}

extension FingerDifference: Transferable {}
