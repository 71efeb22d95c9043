import CommandLineInterface
import SecretVault
import WatchwordCryptography
import WatchwordSystem

// The prompt in a window, where there is no terminal.
extension Session {
    /// Whether `unlock` asks for the passphrase in a window: there is a display, but no terminal.
    func asksInWindow(slots: [SlotSummary]) -> Bool {
        guard promptsForOpener, !isOpenedByRecoveryKey, PinEntry.hasDisplay,
            slots.contains(where: \.isPassphrase)
        else { return false }
        do {
            _ = try Terminal()
            return false
        } catch {
            return error == .none
        }
    }

    /// Calls `unlock` with the passphrase from a window, up to three times.
    func attemptingInWindow<Result>(
        _ path: String, lockOut: () throws(CommandFailure) -> Int64,
        unlock: (VaultOpener) throws(CommandFailure) -> Result
    ) throws(CommandFailure) -> Result {
        let window: PinEntry
        do { window = try PinEntry() } catch { throw .pinEntry(error) }
        var attempts = PromptAttempts()
        var complaint: String?
        while true {
            let seconds = try lockOut()
            guard seconds == 0 else {
                throw refused(
                    .vaultLockedOut(VisibleText.of(path), seconds: seconds), in: window)
            }
            let passphrase: SecretBytes
            do {
                passphrase = try window.passphrase(
                    for: "Unlock the vault \(VisibleText.of(path))", complaint: complaint)
            } catch {
                throw .pinEntry(error)
            }
            // As on the terminal, an empty answer cancels the prompt and is not counted.
            guard passphrase.count > 0 else { throw .pinEntry(.cancelled) }
            do {
                return try unlock(.passphrase(passphrase))
            } catch .presence(let refusal) where attempts.allowAnother(after: refusal) {
                complaint = Messages.sentence(for: refusal)
            } catch .presence(let refusal) {
                throw refused(refusal, in: window)
            }
        }
    }

    /// Shows why the vault stays locked, and returns the failure of the command.
    private func refused(
        _ refusal: PresenceRefusal, in window: PinEntry
    ) -> CommandFailure {
        // The command fails in any case, and prints the same sentence.
        do { try window.show(Messages.sentence(for: refusal)) } catch {}
        return .presence(refusal)
    }
}
