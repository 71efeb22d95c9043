import Presence
import SecretVault

/// Tries a passphrase or a recovery key that was given already.
///
/// It is asked for before the try is counted: who breaks off at the question has tried nothing.
struct OpenerCheck: PresenceCheck {
    /// What opens the vault yields the key.
    typealias Grade = Cryptographic

    /// Why it could not be tried.
    struct Failure: PresenceFailure {
        let reason: VaultError

        /// Nothing was learned: it was not tried.
        var mayHideAttempt: Bool { false }
    }

    let opener: VaultOpener
    let vault: UnlockedVault

    func isPresent(for purpose: String) throws(Failure) -> Bool {
        do { return try vault.isOpened(by: opener) } catch { throw Failure(reason: error) }
    }
}
