import CommandRunner
import OneTimePassword
import SecretVault

// Codes of entries, after the confirmation that each requires.
extension Session {
    /// The code of a time-based entry, `offset` steps after the time that `--at` names, or after
    /// now, and that time.
    func code(
        of entry: EntrySummary, in vault: UnlockedVault, offset: UInt64, for use: EntryUse
    ) throws(CommandFailure) -> (text: String, step: TimeStep, moment: Int64) {
        let credential = try credential(of: entry, in: vault, for: use)
        guard case .time(let step) = credential.movingFactor else {
            throw .code(.otherMovingFactor)
        }
        // Now, because the confirmation may have taken a while.
        let moment = try moment()
        let first: UInt64
        do { first = try step.step(at: moment) } catch { throw .code(.beforeStart) }
        return (credential.generator().code(at: first &+ offset).text, step, moment)
    }

    /// The next code of a counter-based entry, whose counter is saved first.
    func nextCode(
        of entry: EntrySummary, in vault: UnlockedVault, for use: EntryUse
    ) throws(CommandFailure) -> (text: String, counter: UInt64) {
        let content = try nextCounter(of: entry, in: vault, for: use)
        guard case .oneTimePassword(let credential) = content,
            case .counter(let counter) = credential.movingFactor
        else { throw .code(.otherMovingFactor) }
        return (credential.generator().code(at: counter).text, counter)
    }
}
