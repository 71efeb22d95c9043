public import WatchwordCryptography

/// A ticket with which a device registers its key.
public struct DeviceKeyGrant: Sendable {
    /// The id of the pending credential.
    public let credential: CredentialID
    /// The ticket, which is a secret of the device.
    public let ticket: Token
    /// The time from which the ticket is refused.
    public let expiresAt: UnixTime
}

/// The outcome of the registration of a device key.
public enum DeviceKeyRegistration: Hashable, Sendable {
    /// The key is active under this credential.
    case accepted(CredentialID, KeyCustody)
    /// The key is valid; it becomes active once the TPM has revealed the secret.
    case pending(CredentialID, KeyActivation, expiresAt: UnixTime)
    /// The ticket was refused, but the device proved possession of a key that is already active.
    case repeated(CredentialID, KeyCustody)
    /// The key was denied for this reason.
    case denied(DenialReason)
}

/// A challenge for a device key.
public struct DeviceKeyChallenge: Sendable {
    /// The challenge: the device signs its 32 bytes.
    public let token: Token
    /// The expiry of the challenge; the device signs its milliseconds.
    public let expiresAt: UnixTime
}

/// A request to enrol a device's key.
public struct DeviceKeyEnrolment: Sendable {
    /// The owner of the key.
    public let subject: Subject
    /// The credential's name in lists of credentials.
    public let name: String
    /// The weakest presence check that is accepted.
    public let presence: DeviceKeyTranscript.Presence
    /// A credential of the subject that is revoked when the key is registered.
    public let replaces: CredentialID?
    /// The clients that may redeem the device's logins; empty if the verifier is used without
    /// clients.
    public var audience: Set<ClientID> = []

    /// Sets the subject, the name, the weakest presence check and the credential to replace.
    public init(
        for subject: Subject, name: String = "", presence: DeviceKeyTranscript.Presence = .none,
        replacing replaces: CredentialID? = nil
    ) {
        self.subject = subject
        self.name = name
        self.presence = presence
        self.replaces = replaces
    }
}

/// A public key that a device sends with its ticket.
public struct SentDeviceKey: Sendable {
    /// The public key: a point on P-256 in its uncompressed form, 65 bytes.
    public let point: [UInt8]
    /// The signature over the transcript of the enrolment, made with the key.
    public let signature: [UInt8]
    /// The presence check that the device claims to have passed.
    public let presence: DeviceKeyTranscript.Presence
    /// The device's claim about where it keeps the key; without an attestation, an attested TPM is
    /// recorded as any other TPM.
    public let custody: KeyCustody
    /// The TPM's attestation of the key.
    ///
    /// The registration is then completed by ``DeviceKeys/activate(_:with:origin:recorder:)``.
    public let attestation: KeyAttestation?

    /// Takes the values that the device sent.
    public init(
        point: [UInt8], signature: [UInt8], presence: DeviceKeyTranscript.Presence,
        custody: KeyCustody, attestation: KeyAttestation? = nil
    ) {
        self.point = point
        self.signature = signature
        self.presence = presence
        self.custody = custody
        self.attestation = attestation
    }
}

/// A device's response to a challenge.
public struct DeviceKeySignature: Sendable {
    /// The credential of the key that signed.
    public let credential: CredentialID
    /// The challenge that was signed.
    public let challenge: Token
    /// The server's address that the device used.
    public let audience: String
    /// The purpose of the signature.
    public let purpose: DeviceKeyPurpose
    /// The presence check that the device claims to have passed.
    public let presence: DeviceKeyTranscript.Presence
    /// The ECDSA signature, encoded in DER.
    public let signature: [UInt8]

    /// Takes the values that the device sent.
    public init(
        credential: CredentialID, challenge: Token, audience: String, purpose: DeviceKeyPurpose,
        presence: DeviceKeyTranscript.Presence, signature: [UInt8]
    ) {
        self.credential = credential
        self.challenge = challenge
        self.audience = audience
        self.purpose = purpose
        self.presence = presence
        self.signature = signature
    }
}

/// The outcome of a signature by a device key.
public struct DeviceKeyOutcome: Sendable {
    /// The id of the decision.
    public let verification: VerificationID
    /// Whether the signature was accepted.
    public let result: Result

    /// Whether the signature was accepted.
    public enum Result: Sendable {
        /// The signature was accepted; the ticket tells the application who signed.
        case accepted(login: Token, expiresAt: UnixTime)
        /// The signature was denied.
        ///
        /// If a reason to wipe is given, the device deletes its key.
        case denied(DenialReason, wipe: WipeReason?)
    }
}

/// The facts about a signature by a device key, for the application.
public struct DeviceKeyFacts: Hashable, Sendable {
    /// The purpose of the signature.
    public let purpose: DeviceKeyPurpose
    /// SHA-256 of the text that was confirmed.
    public let textDigest: [UInt8]?
    /// The place where the device keeps the key.
    public let custody: KeyCustody
    /// The presence check that the device claims to have passed.
    public let presence: DeviceKeyTranscript.Presence
}
