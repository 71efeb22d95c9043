public import Cryptography
public import OneTimePassword

/// What a list may show of an entry: everything but its secret.
public struct EntrySummary: Sendable {
    /// What names the entry for as long as it lives.
    public let id: RecordID
    /// What it is.
    public let kind: EntryKind
    /// Who issued it; may be empty.
    public let issuer: String
    /// Whose it is; may be empty.
    public let account: String
    /// The hash function of a one-time password.
    public let algorithm: HashAlgorithm?
    /// The form of a one-time password's codes.
    public let style: CodeStyle?
    /// How a time-based code moves.
    public let timeStep: TimeStep?
    /// When the entry was added, in Unix seconds.
    public let created: Int64
    /// Who must be there before it opens, and what failing costs.
    public let accessControl: AccessControl
    /// When and why its secret was wiped, if it was.
    public let tombstone: Tombstone?

    /// Seconds that a time-based code is valid.
    public var period: Int64? { timeStep?.period }

    /// Whether somebody must be there at each use; a wiped entry has no use left.
    public var asksAtUse: Bool { accessControl.presence.isPerUse && tombstone == nil }
}
