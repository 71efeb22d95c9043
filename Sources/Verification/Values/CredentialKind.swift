/// What kind of authenticator a credential is.
public enum CredentialKind: String, CaseIterable, Hashable, Sendable {
    /// Time-based one-time passwords (RFC 6238).
    case totp
    /// Counter-based one-time passwords (RFC 4226).
    case hotp
    /// A set of recovery codes (look-up secrets, NIST SP 800-63B-4, section 3.1.2).
    case recovery
    /// An enrolled secret that rotates at every use.
    case secret

    /// Whether what the row protects is sealed, so that rotating keys can seal it anew; an enrolled
    /// secret's digests move to a new pepper when it is used next.
    public var isSealed: Bool { self != .secret }
}

/// How far a credential's life has come.
public enum CredentialState: String, CaseIterable, Hashable, Sendable {
    /// Handed out, not confirmed: accepts nothing, lapses after ten minutes.
    case pending
    /// In use.
    case active
    /// Failed too often: accepts nothing and must be enrolled anew (NIST SP 800-63B-4, section
    /// 3.2.2).
    case disabled
    /// Ended. Its secrets are deleted; that it was bound stays on record (section 4.1).
    case revoked
}
