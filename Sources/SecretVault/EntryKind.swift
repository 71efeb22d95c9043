/// What an entry is.
public enum EntryKind: String, CaseIterable, Hashable, Sendable {
    /// A time-based one-time password.
    case totp
    /// A counter-based one-time password.
    case hotp
    /// A plain secret: a password, a recovery code, any bytes.
    case secret
    /// What a service gave this device to sign in with.
    case enrolled
}
