public import Verification

/// The outcome of a registration.
public enum RegistrationOutcome: Hashable, Sendable {
    /// The passkey is active.
    case accepted(Acceptance)
    /// The passkey was denied, and the registration has to begin again.
    case denied(DenialReason)

    /// What is known about a new passkey.
    public struct Acceptance: Hashable, Sendable {
        /// Whether it cannot be copied to other devices, as its authenticator says.
        public let isDeviceBound: Bool
        /// Whether it is backed up.
        public let isBackedUp: Bool
        /// Whether its user was verified.
        public let isUserVerified: Bool
        /// What is known about its authenticator's maker: `none`, `self`, `unverified` or `trusted`.
        public let attestation: String
        /// Its authenticator's model (AAGUID): 16 bytes; `nil` if unknown.
        public let model: [UInt8]?
        /// Whether the subject has no other active credential, recovery codes aside.
        public let isOnlyCredential: Bool
    }
}

/// The outcome of an authentication with a passkey.
public struct AssertionOutcome: Sendable {
    /// The id of the decision.
    public let verification: VerificationID
    /// Whether the signature was accepted.
    public let result: Result
    /// The ticket with which the application learns who signed in; `nil` unless it was requested and
    /// the signature is valid.
    public var login: LoginTicket?
    /// The relying party's ID, if the browser should no longer offer the passkey, because it was
    /// never registered or has been revoked.
    public var forgottenAt: String?

    /// Whether the signature was accepted.
    public enum Result: Sendable {
        /// The signature is valid; a second proof is needed unless `stepUp` is empty.
        case signed(Signer, stepUp: [StepUpReason])
        /// The passkey was denied; the ceremony has to begin again.
        case denied(DenialReason)
    }

    /// Who signed, and how.
    public struct Signer: Sendable {
        /// The credential.
        public let credential: CredentialID
        /// Its owner.
        public let subject: Subject
        /// Whether the user was verified.
        public let isUserVerified: Bool
        /// Whether the passkey cannot be copied to other devices, and never could, as its
        /// authenticator says.
        public let isDeviceBound: Bool
        /// Whether the passkey is backed up.
        public let isBackedUp: Bool
        /// What the signature counter shows.
        public let counter: CounterFinding
        /// A token to keep in a browser in which the passkey is used for the first time; `nil`
        /// unless the policy needs one.
        public let device: Token?
    }
}

/// The ids of a subject's passkeys, for WebAuthn's signal methods.
public enum PasskeySignal: Hashable, Sendable {
    /// All ids that are accepted.
    case accepted(relyingPartyID: String, userHandle: [UInt8], ids: [[UInt8]])
    /// A registration is pending. Authenticators hide passkeys whose ids are not listed, so nothing
    /// may be signalled now.
    case pending
}
