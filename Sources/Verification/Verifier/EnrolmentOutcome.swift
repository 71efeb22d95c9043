public import Cryptography

/// How an enrolment ended.
public enum EnrolmentOutcome<Grant: Sendable>: Sendable {
    /// It is done, and the grant is handed out this once.
    case granted(Grant)
    /// It was refused, and nothing has happened.
    case refused(EnrolmentRefusal)
}

/// Why a well-formed enrolment is refused.
public enum EnrolmentRefusal: Hashable, Sendable {
    /// The key is, or was, some credential's key (RFC 6238, section 3, R5).
    case keyInUse
    /// The subject has as many credentials as a policy allows.
    case tooMany
    /// One of the clients that are to redeem logins is unknown or revoked, or there are too many.
    case unknownClient
}

/// A key for a person's authenticator; accepted once a first code confirms it.
public struct OneTimePasswordGrant: Sendable {
    /// What the credential is called.
    public let credential: CredentialID
    /// The key URI, which is a secret.
    public let uri: SecretBytes
    /// Until when it has to be confirmed.
    public let expiresAt: UnixTime
}

/// Ten recovery codes, in use at once; an earlier set of the subject is revoked.
public struct RecoveryGrant: Sendable {
    /// What the set is called.
    public let credential: CredentialID
    /// The codes, as they are typed; each is a secret.
    public let codes: [SecretBytes]
}

/// A ticket by which a device fetches its secret.
public struct SecretGrant: Sendable {
    /// What the credential is called.
    public let credential: CredentialID
    /// The ticket, for the device alone.
    public let ticket: Token
    /// Until when it can be redeemed.
    public let expiresAt: UnixTime
}

/// How the redemption of a ticket ended.
public enum RedemptionOutcome<Value: Sendable>: Sendable {
    /// The ticket was good, and is spent.
    case redeemed(Value)
    /// It was not, whatever the reason.
    case denied
}

/// What a device gets for its enrolment ticket.
public struct HandedOutSecret: Sendable {
    /// What the credential is called.
    public let credential: CredentialID
    /// The secret, for the device alone.
    public let secret: Token
    /// 0 for the first.
    public let generation: UInt64
}

/// What an application gets for a login ticket.
public struct SignedIn: Hashable, Sendable {
    /// Who signed in.
    public let subject: Subject
    /// With which credential.
    public let credential: CredentialID
    /// In which decision.
    public let verification: VerificationID
    /// When the device presented its secret.
    public let verifiedAt: UnixTime
}
