/// How the check of a code ended.
public struct VerificationOutcome: Hashable, Sendable {
    /// What the decision is called.
    public let verification: VerificationID
    /// Whether the code was taken.
    public let result: Result

    /// Whether the code was taken.
    public enum Result: Hashable, Sendable {
        /// It was right, and is spent.
        case accepted(Acceptance)
        /// It was not taken.
        case denied(Denial)
    }

    /// What is known of a code that was taken.
    public struct Acceptance: Hashable, Sendable {
        /// Whose code it was.
        public let credential: CredentialID
        /// What kind that is.
        public let kind: CredentialKind
        /// Steps between the code and the expected one, drift included; 0 for a recovery code.
        public let offset: Int64
        /// How many recovery codes are left; nothing for other kinds.
        public let remaining: Int?
    }

    /// Why a code was not taken: for the application, and not for who presented it.
    public enum Denial: Hashable, Sendable {
        /// It is none of the expected codes.
        case wrong
        /// It was right, and had been spent before.
        case replayed
        /// It was not looked at: attempts have to wait for so many milliseconds yet.
        case throttled(retryAfter: Int64)
        /// The credential is disabled and has to be enrolled anew.
        case disabled
        /// There is no such subject or credential, or it is not in use.
        case unknown
    }
}
