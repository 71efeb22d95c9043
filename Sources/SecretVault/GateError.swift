/// Why a presence was not proved; see ``UnlockedVault/prove(_:for:words:reading:lasting:now:)``.
public enum GateError<Failure: Error>: Error {
    /// The vault did not let it come to a question, such as ``VaultError/lockedOut(seconds:)``.
    case vault(VaultError)
    /// The check said no, and this is what that cost.
    case refused(RefusalCost)
    /// The check had no answer.
    case check(Failure)
}

/// What a failure has cost.
public enum RefusalCost: Hashable, Sendable {
    /// So many more failures in a row cost no wait, nor the secret.
    case free(left: Int)
    /// The next try is possible after so many seconds.
    case wait(seconds: Int64)
    /// The secret is gone.
    case wiped
    /// Nothing: the vault can't be written, so nothing is counted.
    case notCounted
}

/// The failures that are counted against a vault or an entry, and what is left to wait.
public struct LockOut: Hashable, Sendable {
    /// Attempts in a row that were refused, or begun and never decided.
    public let failures: Int64
    /// Seconds until the next try is possible; 0 when it is.
    public let seconds: Int64

    init(_ failures: Failures?, at reading: ClockReading) {
        self.failures = Int64(failures?.count ?? 0)
        seconds = Int64(failures?.rest(at: reading) ?? 0)
    }
}
