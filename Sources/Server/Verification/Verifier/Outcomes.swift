public import WatchwordCryptography

/// The outcome of an enrolment.
public enum EnrolmentOutcome<Grant: Sendable>: Sendable {
    /// The enrolment succeeded; the grant is returned only once.
    case granted(Grant)
    /// The enrolment was refused, and nothing was changed.
    case refused(EnrolmentRefusal)
}

/// Why a well-formed enrolment is refused.
public enum EnrolmentRefusal: Hashable, Sendable {
    /// The key belongs, or belonged, to a credential (RFC 6238, section 3, R5).
    case keyInUse
    /// The subject has as many credentials as the policy permits.
    case tooMany
    /// One of the clients in the audience is unknown or revoked, or there are too many.
    case unknownClient
    /// The subject has no credential with the id to be replaced.
    case unknownCredential
    /// The credential to be replaced was never confirmed.
    case pendingCredential
    /// Only a client that may revoke every credential may replace this credential: a different
    /// client enrolled it, or it is not active.
    case foreignCredential
    /// The last used step of an imported key is so far ahead of the clock that the key's next codes
    /// would be refused.
    case usedInFuture
}

/// The outcome of an import.
public enum ImportOutcome: Hashable, Sendable {
    /// The key was imported; `expiresAt` is the deadline for its first code, unless it is active.
    case imported(CredentialID, expiresAt: UnixTime?)
    /// The subject already has an active or pending credential with this key.
    case present(CredentialID)
    /// The import was refused, and nothing was changed.
    case refused(EnrolmentRefusal)
}

/// A key for a user's authenticator.
///
/// The key is accepted after a first code has confirmed it.
public struct OneTimePasswordGrant: Sendable {
    /// The id of the credential.
    public let credential: CredentialID
    /// The key URI, a secret.
    public let uri: SecretBytes
    /// The time from which the enrolment can no longer be confirmed.
    public let expiresAt: UnixTime
}

/// Ten recovery codes, which are active at once.
///
/// The subject's earlier set is revoked.
public struct RecoveryGrant: Sendable {
    /// The id of the set.
    public let credential: CredentialID
    /// The codes in the form that users type; each code is a secret.
    public let codes: [SecretBytes]
}

/// A ticket with which a device fetches its secret, or a person fetches a key.
public struct SecretGrant: Sendable {
    /// The id of the credential.
    public let credential: CredentialID
    /// The ticket, which is a secret of the device or the person.
    public let ticket: Token
    /// The time from which the ticket is refused.
    public let expiresAt: UnixTime
}

/// The outcome of redeeming a ticket.
public enum RedemptionOutcome<Value: Sendable>: Sendable {
    /// The ticket was valid and is spent.
    case redeemed(Value)
    /// The ticket was denied for this reason.
    case denied
}

/// The response to a valid enrolment ticket.
public struct IssuedSecret: Sendable {
    /// The id of the credential.
    public let credential: CredentialID
    /// The secret for the first login, which only the device may receive.
    public let secret: Token
    /// The generation of the secret: 0 for the first secret.
    public let generation: UInt64
}

/// The response to a valid login ticket.
public struct SignedIn: Hashable, Sendable {
    /// The subject that signed in.
    public let subject: Subject
    /// The credential that was used.
    public let credential: CredentialID
    /// The kind of the credential.
    public let kind: CredentialKind
    /// The id of the decision that accepted the login.
    public let verification: VerificationID
    /// The time at which the device presented its secret, or signed.
    public let verifiedAt: UnixTime
    /// The facts about the signature, if the device signed with a key.
    public let deviceKey: DeviceKeyFacts?
    /// The facts about the signature, if a passkey signed.
    public let passkey: PasskeyFacts?
}

/// The outcome of the verification of a code.
public struct VerificationOutcome: Sendable {
    /// The id of the decision, for the audit log.
    public let verification: VerificationID
    /// Whether the code was accepted.
    public let result: Result
    /// The token of a device that is known from now on; `nil` if no device became known.
    public let device: Token?

    /// Whether the code was accepted.
    public enum Result: Hashable, Sendable {
        /// The code was correct, and is spent.
        case accepted(Acceptance)
        /// The code was denied for this reason.
        case denied(Denial)
    }

    /// The facts about an accepted code.
    public struct Acceptance: Hashable, Sendable {
        /// The credential that the code matched.
        public let credential: CredentialID
        /// The kind of the credential.
        public let kind: CredentialKind
        /// The number of steps between the code and the expected one, including drift; 0 for a
        /// recovery code.
        public let offset: Int64
        /// The number of recovery codes left; `nil` for other kinds.
        public let remaining: Int?
    }

    /// Why a code was denied.
    ///
    /// The reason is for the application, not for the user.
    public enum Denial: Hashable, Sendable {
        /// The code matches no expected code.
        case wrong
        /// The code was correct, but already spent.
        case replayed
        /// The code was not checked: attempts have to wait for this many milliseconds.
        case throttled(retryAfter: Int64)
        /// The credential is disabled and must be enrolled again.
        case disabled
        /// The subject or credential does not exist, or no active credential has codes of this form.
        case unknown
    }

    init(verification: VerificationID, result: Result, device: Token? = nil) {
        self.verification = verification
        self.result = result
        self.device = device
    }
}

/// All facts about a credential that are not secret.
public struct CredentialSummary: Hashable, Sendable {
    /// The id, which is not secret.
    public let id: CredentialID
    /// The subject that owns the credential.
    public let subject: Subject
    /// The kind of authenticator that the credential represents.
    public let kind: CredentialKind
    /// The state in the credential's life cycle.
    ///
    /// An expired pending credential counts as revoked.
    public let state: CredentialState
    /// A human-readable name; may be empty.
    public let name: String
    /// The time of creation.
    public let createdAt: UnixTime
    /// The time until which the credential can be confirmed, while it is pending.
    public let lapsesAt: UnixTime?
    /// The time of confirmation; `nil` if there was none.
    public let confirmedAt: UnixTime?
    /// The time of the last acceptance; `nil` if there was none.
    public let lastUsedAt: UnixTime?
    /// The time at which the credential was disabled or revoked; `nil` if it was not.
    public let endedAt: UnixTime?
    /// Why the credential was disabled or revoked; `nil` if it was not.
    public let endReason: Event.Reason?
    /// The origin of the enrolment.
    public let origin: Origin
    /// The number of failures since the last success.
    public let failures: Int
    /// The end of the current wait; `nil` if attempts are not delayed.
    public let waitsUntil: UnixTime?
    /// The number of recovery codes left; `nil` for other kinds.
    public let remaining: Int?
    /// Whether the key has fewer than 128 bits, which only an import accepts.
    public let hasShortKey: Bool
    /// The binding of an enrolled secret to its device, as the device states; `nil` for an unbound
    /// secret, and for other kinds.
    public let custody: SecretCustody?
    /// The facts about an active passkey; `nil` for other credentials.
    public let passkey: PasskeySummary?
}

/// A page of a subject's credentials.
public struct CredentialPage: Hashable, Sendable {
    /// The credentials on the page.
    public let credentials: [CredentialSummary]
    /// The position of the next page; `nil` if this page is the last.
    public let next: UnixTime?
}

/// The facts about a passkey; most of them are claims of its authenticator.
public struct PasskeySummary: Hashable, Sendable {
    /// Whether the passkey cannot be copied to other devices, and could not in any accepted
    /// ceremony.
    public let isDeviceBound: Bool
    /// Whether the passkey is backed up.
    public let isBackedUp: Bool
    /// Whether a ceremony that verified the user was ever accepted.
    public let wasUserVerified: Bool
    /// The trust in the authenticator's maker: `none`, `self`, `unverified` or `trusted`.
    public let attestation: String
    /// The authenticator's model (AAGUID): 16 bytes; `nil` if unknown.
    public let model: [UInt8]?
    /// The transports by which the browser reaches the authenticator, as the browser names them.
    public let transports: [String]
}

/// The outcome of an administrator's change.
public enum ChangeOutcome: Hashable, Sendable {
    /// The change has been made, or had already been made.
    case done
    /// The credential or client does not exist.
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
    /// An enrolled secret, which rotates at every use.
    case secret
    /// A key pair of a WebAuthn authenticator.
    case passkey
    /// A key pair of a device that signs with `watchword`.
    case key

    /// Whether the row's data is sealed, so that a key rotation can reseal the data.
    ///
    /// The digests of an enrolled secret move to a new pepper at its next login.
    public var isSealed: Bool { self != .secret }
}

/// A state in a credential's life cycle.
public enum CredentialState: String, CaseIterable, Hashable, Sendable {
    /// Issued but not confirmed: accepts nothing, and expires after ten minutes.
    case pending
    /// The credential is confirmed, and accepts codes, secrets or signatures.
    case active
    /// Disabled after too many failures or at the end of its counter: accepts nothing, and must be
    /// enrolled again (NIST SP 800-63B-4, section 3.2.2).
    case disabled
    /// Ended.
    ///
    /// The secrets are deleted, but the binding stays on record (section 4.1).
    case revoked
}
