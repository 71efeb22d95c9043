public import Presence

/// Asks for a passphrase, typed at the terminal or read from a file, or for a recovery key.
///
/// It is handed what was given: who breaks off at the question, before a try is counted, has tried nothing.
public struct OpenerCheck: PresenceCheck {
    /// What opens the vault yields its key.
    public typealias Grade = Cryptographic

    /// Why there is no answer.
    public struct Failure: PresenceFailure, Hashable {
        /// What came in between.
        public let reason: VaultError
        /// Whether a slot said no before that: whoever guesses has learned something.
        public let mayHideAttempt: Bool
    }

    private let opener: VaultOpener
    private let vault: UnlockedVault

    /// A check that says yes to what opens `vault`.
    public init(_ opener: VaultOpener, of vault: UnlockedVault) {
        self.opener = opener
        self.vault = vault
    }

    /// Tries it once.
    public func isPresent(for purpose: String) throws(Failure) -> Bool {
        try vault.isOpened(by: opener)
    }
}
