/// Something that happened to a credential, for those who must know or look into it later.
///
/// There is no secret in an event: no code, key, ticket or digest. Subject, address and user agent
/// are strangers' texts, which may hold line breaks; who prints an event escapes them.
public struct Event: Hashable, Sendable {
    /// What happened.
    public let kind: Kind
    /// Why; nothing where there is nothing to add.
    public let reason: Reason?
    /// When.
    public let time: UnixTime
    /// To whom; nothing when it was to no subject or none is known.
    public let subject: Subject?
    /// To which credential; nothing when it was none or several.
    public let credential: CredentialID?
    /// In which decision.
    public let verification: VerificationID?
    /// Where the request came from.
    public let origin: Origin
    /// A figure, as ``Kind`` says.
    public let number: Int64?

    /// Whether the subject should be told at once (RFC 4226, section 7.2; NIST SP 800-63B-4,
    /// sections 3.1.4.2, 4.1.2.1, 4.2.3 and 4.6).
    public var isNotification: Bool {
        switch kind {
        case .enrolled, .locked, .disabled, .replayed, .resynchronised, .wiped: true
        case .revoked: reason != .lapsed
        case .accepted: reason == .recoveryCode
        default: false
        }
    }

    /// What can happen.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A key, a set of codes or a ticket was handed out.
        case enrolmentStarted
        /// A credential is in use from now on.
        case enrolled
        /// A code or secret was right; the number is the offset from the expected step, or how many
        /// recovery codes are left.
        case accepted
        /// A code, secret or ticket was refused; the number is how often that happened from the same
        /// address since the last such event, where it was more than once.
        case denied
        /// A code was right and had been spent before.
        case replayed
        /// A device asked again for an answer that it had lost, and got the same.
        case repeated
        /// The limit of consecutive failures is reached, so that attempts have to wait; once.
        case locked
        /// A credential accepts nothing any more.
        case disabled
        /// A wait was lifted.
        case unlocked
        /// The counter or the drift was set anew by two consecutive codes; the number is by how
        /// much.
        case resynchronised
        /// The credential's name was changed.
        case renamed
        /// The credential ended, and its secrets are deleted.
        case revoked
        /// A device was told to delete its secret.
        case wiped
        /// The application learnt who had signed in.
        case loginRedeemed
        /// Rows were sealed under another key; the number is how many.
        case keysRotated
        /// The database came from a backup; the number is how many credentials were ended for it.
        /// With a credential: that one goes on, and nothing from before is accepted by it.
        case restored
        /// An application may ask from now on; ``Origin/client`` names it.
        case clientAdded
        /// An application has a new API key, and its old one is worthless; ``Origin/client`` names it.
        case clientRenewed
        /// An application may not ask any more; ``Origin/client`` names it.
        case clientRevoked
    }

    /// Why it can happen.
    public enum Reason: String, CaseIterable, Hashable, Sendable {
        /// It was none of the expected codes or secrets.
        case wrong
        /// It had been spent before.
        case spent
        /// The wait was not over.
        case throttled
        /// The credential is disabled.
        case disabled
        /// There is no such subject, credential or ticket.
        case unknown
        /// It came too late.
        case expired
        /// The login ticket is for other clients.
        case otherAudience
        /// The credential was revoked on request.
        case revoked
        /// An earlier secret, or the current one by two holders: two have it, and nobody can tell
        /// who is the thief (RFC 6819, section 5.2.2.3).
        case reuseDetected
        /// There were too many failures in a row.
        case tooManyFailures
        /// The subject's account is closed.
        case accountClosed
        /// The secret was not used for too long.
        case idle
        /// The secret's longest life is over.
        case tooOld
        /// The counter came to its end.
        case counterExhausted
        /// A new set of recovery codes took its place.
        case replaced
        /// The enrolment was not confirmed in time.
        case lapsed
        /// What was spent since the backup is not known.
        case restored
        /// It was a recovery code.
        case recoveryCode
    }

    /// Puts an event together.
    public init(
        _ kind: Kind, reason: Reason? = nil, time: UnixTime, subject: Subject? = nil,
        credential: CredentialID? = nil, verification: VerificationID? = nil,
        origin: Origin = .unknown, number: Int64? = nil
    ) {
        self.kind = kind
        self.reason = reason
        self.time = time
        self.subject = subject
        self.credential = credential
        self.verification = verification
        self.origin = origin
        self.number = number
    }
}
