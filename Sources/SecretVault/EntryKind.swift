/// The kind of an entry.
public enum EntryKind: String, CaseIterable, Hashable, Sendable {
    /// A time-based one-time password.
    case totp
    /// A counter-based one-time password.
    case hotp
    /// A plain secret: a password, a recovery code or any other bytes.
    case secret
    /// A secret that a service issued to this device for signing in.
    case enrolled
}
