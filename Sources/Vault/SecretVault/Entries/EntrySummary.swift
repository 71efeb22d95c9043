public import OneTimePassword
public import WatchwordCryptography

/// What a list may show of an entry: everything except its secret.
public struct EntrySummary: Hashable, Sendable {
    /// The ID, which never changes.
    public let id: RecordID
    /// When it requires a presence check, and what failed checks cost.
    public let accessControl: AccessControl
    /// When and why its secret was wiped, if it was.
    public let tombstone: Tombstone?
    /// Whether its secret was wiped without the vault key, and neither the manifest nor the counted
    /// failures prove that: anybody who can write the file may have made the tombstone.
    public internal(set) var hasVanished = false
    let properties: EntryProperties

    /// The kind of entry.
    public var kind: EntryKind { properties.traits.kind }
    /// The issuer; may be empty.
    public var issuer: String { properties.issuer }
    /// The account; may be empty.
    public var account: String { properties.account }
    /// The hash function of a one-time password.
    public var algorithm: HashAlgorithm? { properties.traits.algorithm }
    /// The form of a one-time password's codes.
    public var style: CodeStyle? { properties.traits.style }
    /// The time step of a time-based code.
    public var timeStep: TimeStep? { properties.traits.timeStep }
    /// When the entry was added, in Unix seconds.
    public var created: Int64 { properties.created }
    /// Its last edit.
    public var edited: EntryEdit { properties.edited }
    /// Its tags, note, icon and favourite mark.
    public var details: EntryDetails { properties.details }

    /// The period of a time-based code, in seconds.
    public var period: Int64? { timeStep?.period }

    /// Whether each use requires a presence check; `false` for a wiped entry, but not for one that
    /// has vanished.
    public var requiresCheckPerUse: Bool {
        accessControl.presence.isPerUse && (tombstone == nil || hasVanished)
    }
}
