/// All facts about a credential that are not secret.
public struct CredentialSummary: Hashable, Sendable {
    /// The credential's id.
    public let id: CredentialID
    /// The owner.
    public let subject: Subject
    /// The kind of authenticator.
    public let kind: CredentialKind
    /// The state in its life cycle.
    ///
    /// An expired pending credential counts as revoked.
    public let state: CredentialState
    /// A human-readable name; may be empty.
    public let name: String
    /// When it was created.
    public let createdAt: UnixTime
    /// The deadline for its confirmation, while it is pending.
    public let lapsesAt: UnixTime?
    /// When it was confirmed.
    public let confirmedAt: UnixTime?
    /// When it was last accepted.
    public let lastUsedAt: UnixTime?
    /// When it was disabled or revoked.
    public let endedAt: UnixTime?
    /// Why it was disabled or revoked.
    public let endReason: Event.Reason?
    /// Where it was enrolled.
    public let origin: Origin
    /// The number of failures since the last success.
    public let failures: Int
    /// The end of the current wait.
    public let waitsUntil: UnixTime?
    /// The number of recovery codes left; `nil` for other kinds.
    public let remaining: Int?
    /// Whether its key has fewer than 128 bits, which only an import accepts.
    public let hasShortKey: Bool
    /// The facts about an active passkey; `nil` for anything else.
    public let passkey: PasskeySummary?
}

/// Some of a subject's credentials.
public struct CredentialPage: Hashable, Sendable {
    /// The credentials.
    public let credentials: [CredentialSummary]
    /// Where the next page begins; `nil` if this is the last one.
    public let next: UnixTime?
}

/// The facts about a passkey, most of which are its authenticator's claims.
public struct PasskeySummary: Hashable, Sendable {
    /// Whether it cannot be copied to other devices, and could not in any accepted ceremony.
    public let isDeviceBound: Bool
    /// Whether it is backed up.
    public let isBackedUp: Bool
    /// Whether a ceremony that verified the user was ever accepted.
    public let wasUserVerified: Bool
    /// What is known about its authenticator's maker: `none`, `self`, `unverified` or `trusted`.
    public let attestation: String
    /// Its authenticator's model (AAGUID): 16 bytes; `nil` if unknown.
    public let model: [UInt8]?
    /// How a browser reaches its authenticator, in the browser's own words.
    public let transports: [String]
}

/// The outcome of an administrator's change.
public enum ChangeOutcome: Hashable, Sendable {
    /// The change has been made, or had already been made.
    case done
    /// There is no such credential or client.
    case unknown
    /// The credential's state does not allow the change, for example to unlock a disabled
    /// credential.
    case refused
}

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
