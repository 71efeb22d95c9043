public import Presence

/// Checks presence with a passphrase or a recovery key.
///
/// The caller asks for the passphrase first: a user who cancels at the prompt has made no attempt,
/// and nothing is counted.
public struct OpenerCheck: PresenceCheck {
    /// The passphrase or recovery key yields the vault key.
    public typealias Grade = Cryptographic

    /// Why the check has no result.
    public struct Failure: PresenceFailure, Hashable {
        /// The underlying error.
        public let reason: VaultError
        /// Whether a slot rejected the guess before the error, which reveals something to an
        /// attacker.
        public let mayConcealAttempt: Bool
    }

    private let opener: VaultOpener
    private let vault: UnlockedVault

    /// Creates a check that passes if `opener` opens `vault`.
    public init(_ opener: VaultOpener, of vault: UnlockedVault) {
        self.opener = opener
        self.vault = vault
    }

    /// Makes one attempt.
    public func isPresent(for purpose: String) throws(Failure) -> Bool {
        try vault.isOpened(by: opener)
    }
}
