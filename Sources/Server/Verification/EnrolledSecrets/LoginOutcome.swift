/// The outcome of a login with an enrolled secret.
public struct LoginOutcome: Sendable {
    /// The id of the decision; a repeated response has the same one.
    public let verification: VerificationID
    /// Whether the secret was accepted.
    public let result: Result

    /// Whether the secret was accepted.
    public enum Result: Sendable {
        /// The secret was correct.
        case accepted(Acceptance)
        /// The secret was denied.
        ///
        /// If a reason to wipe is given, the device deletes its secret.
        case denied(wipe: WipeReason?)
    }

    /// The response to a device whose secret was accepted.
    public struct Acceptance: Sendable {
        /// The ticket with which the application learns who signed in.
        public let login: Token
        /// The end of the ticket's lifetime.
        public let expiresAt: UnixTime
        /// The secret for the next login.
        public let secret: Token
        /// The generation of the next secret.
        public let generation: UInt64
    }
}

/// Why a device is told to delete its secret.
///
/// A device ignores any other reason.
public enum WipeReason: String, CaseIterable, Hashable, Sendable {
    /// The credential was revoked.
    case revoked
    /// Two holders have the secret.
    case reuseDetected = "reuse-detected"
    /// Three consecutive attempts were wrong.
    case tooManyFailures = "too-many-failures"
    /// The account is closed.
    case accountClosed = "account-closed"
}

/// The 16 fresh random bytes that a device stores before it presents a secret.
///
/// The next secret is derived from them, so that only the device that sent a request can get its
/// lost response again.
public struct RotationNonce: Hashable, Sendable {
    /// Exactly 16 bytes.
    public let bytes: [UInt8]

    /// The number of bytes.
    public static let count = 16

    /// Accepts exactly 16 bytes, and returns `nil` for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }
}

extension WipeReason {
    /// The reason to report to a device, given the reason why its credential ended.
    init(_ reason: Event.Reason?) {
        switch reason {
        case .reuseDetected: self = .reuseDetected
        case .tooManyFailures: self = .tooManyFailures
        case .accountClosed: self = .accountClosed
        default: self = .revoked
        }
    }
}
