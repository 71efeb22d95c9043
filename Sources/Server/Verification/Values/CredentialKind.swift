/// The kind of authenticator that a credential represents.
public enum CredentialKind: String, CaseIterable, Hashable, Sendable {
    /// Time-based one-time passwords (RFC 6238).
    case totp
    /// Counter-based one-time passwords (RFC 4226).
    case hotp
    /// A set of recovery codes (look-up secrets, NIST SP 800-63B-4, section 3.1.2).
    case recovery
    /// An enrolled secret that rotates at every use.
    case secret
    /// A key pair of a WebAuthn authenticator.
    case passkey
    /// A key pair of a device that signs with `watchword`.
    case key

    /// Whether the row's data is sealed, so that a key rotation can reseal it.
    ///
    /// The digests of an enrolled secret move to a new pepper at its next login.
    public var isSealed: Bool { self != .secret }
}

/// A state in a credential's life cycle.
public enum CredentialState: String, CaseIterable, Hashable, Sendable {
    /// Issued but not confirmed: accepts nothing, and expires after ten minutes.
    case pending
    /// Active.
    case active
    /// Disabled after too many failures or at the end of its counter: accepts nothing and must be
    /// enrolled again (NIST SP 800-63B-4, section 3.2.2).
    case disabled
    /// Ended.
    ///
    /// Its secrets are deleted, but the binding stays on record (section 4.1).
    case revoked
}
