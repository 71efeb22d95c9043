/// The outcome of the verification of a code.
public struct VerificationOutcome: Sendable {
    /// The id of the decision.
    public let verification: VerificationID
    /// Whether the code was accepted.
    public let result: Result
    /// The token of a device that is known from now on; `nil` if there is no new one.
    public let device: Token?
    /// The number of credentials that this failure made ``Event/Kind/guessing`` report.
    package let reported: Int

    /// Whether the code was accepted.
    public enum Result: Hashable, Sendable {
        /// The code was correct, and is spent.
        case accepted(Acceptance)
        /// The code was denied.
        case denied(Denial)
    }

    /// The facts about an accepted code.
    public struct Acceptance: Hashable, Sendable {
        /// The credential that the code matched.
        public let credential: CredentialID
        /// The kind of that credential.
        public let kind: CredentialKind
        /// The steps between the code and the expected one, including drift; 0 for a recovery code.
        public let offset: Int64
        /// The number of recovery codes left; `nil` for other kinds.
        public let remaining: Int?
    }

    /// Why a code was denied.
    ///
    /// This is for the application, not for the user.
    public enum Denial: Hashable, Sendable {
        /// The code matches no expected code.
        case wrong
        /// The code was correct, but already spent.
        case replayed
        /// The code was not checked: attempts have to wait for this many milliseconds.
        case throttled(retryAfter: Int64)
        /// The credential is disabled and must be enrolled again.
        case disabled
        /// There is no such subject or credential, or it is not active.
        case unknown
    }

    init(verification: VerificationID, result: Result, device: Token? = nil, reported: Int = 0) {
        self.verification = verification
        self.result = result
        self.device = device
        self.reported = reported
    }
}
