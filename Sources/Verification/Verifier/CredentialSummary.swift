/// What may be told of a credential: everything but its secrets.
public struct CredentialSummary: Hashable, Sendable {
    /// What it is called by programs.
    public let id: CredentialID
    /// Whose it is.
    public let subject: Subject
    /// What kind it is.
    public let kind: CredentialKind
    /// How far its life has come; a pending one whose time is up counts as revoked.
    public let state: CredentialState
    /// What people call it; may be empty.
    public let name: String
    /// When it was made.
    public let createdAt: UnixTime
    /// Until when it has to be confirmed, while it is pending.
    public let lapsesAt: UnixTime?
    /// When it came into use.
    public let confirmedAt: UnixTime?
    /// When it was last accepted.
    public let lastUsedAt: UnixTime?
    /// When it was disabled or revoked.
    public let endedAt: UnixTime?
    /// Why it was disabled or revoked.
    public let endReason: Event.Reason?
    /// Where it was enrolled.
    public let origin: Origin
    /// How many failures there were since the last success.
    public let failures: Int
    /// Until when attempts have to wait.
    public let waitsUntil: UnixTime?
    /// How many recovery codes are left; nothing for other kinds.
    public let remaining: Int?
}

/// How an administrator's change ended.
public enum ChangeOutcome: Hashable, Sendable {
    /// It is done; also when it had been done before.
    case done
    /// There is no such thing.
    case unknown
    /// The state of the credential does not allow it: a disabled one is never unlocked.
    case refused
}
