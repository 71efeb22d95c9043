/// Why a ceremony of public-key credentials is denied.
///
/// The steps are those of Web Authentication Level 3, sections 7.1 (registration) and 7.2
/// (authentication).
public enum DenialReason: String, CaseIterable, Error, Hashable, Sendable {
    /// The client data is not valid JSON with members of the right types (steps 5 and 6).
    case clientData = "client-data"
    /// The client data is for another type of ceremony.
    case type
    /// The challenge is unknown, spent, or made for something else.
    case challenge
    /// The challenge has expired.
    case expired
    /// The page's origin is not configured.
    case origin
    /// The page was in a frame of another origin, which is not configured.
    case crossOrigin = "cross-origin"
    /// The top-level page is not configured.
    case topOrigin = "top-origin"
    /// The attestation object does not consist of format, statement and authenticator data.
    case attestationObject = "attestation-object"
    /// The authenticator data is malformed.
    case authenticatorData = "authenticator-data"
    /// The authenticator data is for another relying party.
    case relyingParty = "relying-party"
    /// The authenticator did not check that a user is present.
    case userPresence = "user-presence"
    /// The authenticator did not verify the user, although that is required.
    case userVerification = "user-verification"
    /// The credential is backed up, although it is not eligible for it.
    case backupFlags = "backup-flags"
    /// The credential can be backed up, although it must be bound to a device.
    case notDeviceBound = "not-device-bound"
    /// The key's algorithm was not offered, or is unknown.
    case algorithm
    /// The key does not match its algorithm, or is not valid.
    case publicKey = "public-key"
    /// The attestation statement's format is unknown.
    case attestationFormat = "attestation-format"
    /// The attestation statement is not valid.
    case attestation
    /// The attestation statement does not chain to a trust anchor.
    case attestationUntrusted = "attestation-untrusted"
    /// The attestation statement is signed with SHA-1.
    case attestationWeak = "attestation-weak"
    /// The credential's id is too long, or differs from the one that the browser states.
    case credentialID = "credential-id"
    /// The credential is registered already.
    case credentialKnown = "credential-known"
    /// There is no such credential, or not for this ceremony.
    case unknown
    /// The credential was revoked.
    case revoked
    /// The user handle is that of another subject, or is missing.
    case userHandle = "user-handle"
    /// The signature is not valid.
    case signature
    /// Whether the credential can be backed up has changed.
    case backupEligibilityChanged = "backup-eligibility-changed"
    /// The signature counter did not increase.
    case counter
    /// The device key signed for another address.
    case audience
    /// The device did not check that somebody is present as the policy requires.
    case presence
}

extension DenialReason {
    /// Whether what the authenticator made was refused in a registration, so that another attempt
    /// with the same authenticator would be denied again.
    public var isAboutAuthenticator: Bool {
        switch self {
        case .attestationObject, .authenticatorData, .userPresence, .userVerification,
            .backupFlags, .notDeviceBound, .algorithm, .publicKey, .attestationFormat,
            .attestation, .attestationUntrusted, .attestationWeak, .credentialID,
            .credentialKnown:
            true
        case .clientData, .type, .challenge, .expired, .origin, .crossOrigin, .topOrigin,
            .relyingParty, .unknown, .revoked, .userHandle, .signature,
            .backupEligibilityChanged, .counter, .audience, .presence:
            false
        }
    }
}

extension Event.Reason {
    /// The reason why a public-key credential was denied.
    package init(_ reason: DenialReason) {
        self =
            switch reason {
            case .clientData: .clientData
            case .type: .ceremonyType
            case .challenge: .challenge
            case .expired: .expired
            case .origin: .origin
            case .crossOrigin: .crossOrigin
            case .topOrigin: .topOrigin
            case .attestationObject: .attestationObject
            case .authenticatorData: .authenticatorData
            case .relyingParty: .relyingParty
            case .userPresence: .userPresence
            case .userVerification: .userVerification
            case .backupFlags: .backupFlags
            case .notDeviceBound: .notDeviceBound
            case .algorithm: .algorithm
            case .publicKey: .publicKey
            case .attestationFormat: .attestationFormat
            case .attestation: .attestation
            case .attestationUntrusted: .attestationUntrusted
            case .attestationWeak: .attestationWeak
            case .credentialID: .credentialID
            case .credentialKnown: .credentialKnown
            case .unknown: .unknown
            case .revoked: .revoked
            case .userHandle: .userHandle
            case .signature: .signature
            case .backupEligibilityChanged: .backupEligibilityChanged
            case .counter: .counter
            case .audience: .audience
            case .presence: .presence
            }
    }
}
