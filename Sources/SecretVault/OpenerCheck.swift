public import Presence

/// Asks for a passphrase, typed at the terminal or read from a file, or for a recovery key.
///
/// It is handed what was given: who breaks off at the question, before a try is counted, has tried nothing.
public struct OpenerCheck: PresenceCheck {
    /// What opens the vault yields its key.
    public typealias Grade = Cryptographic

    /// Why it could not be tried.
    public struct Failure: PresenceFailure, Hashable {
        /// What came in between.
        public let reason: VaultError

        /// Nothing was learned: it was not tried.
        public var mayHideAttempt: Bool { false }
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
        do { return try vault.isOpened(by: opener) } catch { throw Failure(reason: error) }
    }
}
