public import Cryptography
public import OneTimePassword

/// What a list may show of an entry: everything except its secret.
public struct EntrySummary: Sendable {
    /// The ID, which never changes.
    public let id: RecordID
    /// The kind of entry.
    public let kind: EntryKind
    /// The issuer; may be empty.
    public let issuer: String
    /// The account; may be empty.
    public let account: String
    /// The hash function of a one-time password.
    public let algorithm: HashAlgorithm?
    /// The form of a one-time password's codes.
    public let style: CodeStyle?
    /// The time step of a time-based code.
    public let timeStep: TimeStep?
    /// When the entry was added, in Unix seconds.
    public let created: Int64
    /// Its last edit.
    public let edited: EntryEdit
    /// Its tags, note, icon and favourite mark.
    public let details: EntryDetails
    /// When it requires a presence check, and what failed checks cost.
    public let accessControl: AccessControl
    /// When and why its secret was wiped, if it was.
    public let tombstone: Tombstone?

    /// The period of a time-based code, in seconds.
    public var period: Int64? { timeStep?.period }

    /// Whether each use requires a presence check; `false` for a wiped entry.
    public var requiresCheckPerUse: Bool { accessControl.presence.isPerUse && tombstone == nil }
}
