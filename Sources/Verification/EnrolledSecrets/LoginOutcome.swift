/// How a login with an enrolled secret ended.
public struct LoginOutcome: Sendable {
    /// What the decision is called; the same for an answer that is given again.
    public let verification: VerificationID
    /// Whether the secret was taken.
    public let result: Result

    /// Whether the secret was taken.
    public enum Result: Sendable {
        /// It was right.
        case accepted(Acceptance)
        /// It was not taken; with a reason to wipe, the device deletes its secret.
        case denied(wipe: WipeReason?)
    }

    /// What the device gets.
    public struct Acceptance: Sendable {
        /// The ticket by which the application learns who signed in.
        public let login: Token
        /// Until when it can be redeemed.
        public let expiresAt: UnixTime
        /// The secret for the next login.
        public let secret: Token
        /// Its generation.
        public let generation: UInt64
    }
}

/// Why a device is told to delete its secret; it obeys no other reason.
public enum WipeReason: String, CaseIterable, Hashable, Sendable {
    /// The credential was revoked.
    case revoked
    /// Two holders have the secret.
    case reuseDetected = "reuse-detected"
    /// Three attempts in a row were wrong.
    case tooManyFailures = "too-many-failures"
    /// The account is closed.
    case accountClosed = "account-closed"
}

/// What a device writes down before it presents a secret: 16 fresh random bytes.
///
/// The next secret is derived from it, so that a lost reply can be given again to who asked, and to
/// nobody else.
public struct RotationNonce: Hashable, Sendable {
    /// 16 bytes, always.
    public let bytes: [UInt8]

    /// How many bytes there are.
    public static let count = 16

    /// Takes exactly 16 bytes; nothing for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }
}
