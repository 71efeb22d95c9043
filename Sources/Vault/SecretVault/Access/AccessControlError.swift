/// Why presence was not proved; see ``UnlockedVault/prove(_:for:words:reading:lasting:now:)``.
public enum AccessControlError<Failure: Error>: Error {
    /// The vault did not allow the check, for example because of
    /// ``VaultError/lockedOut(seconds:)``.
    case vault(VaultError)
    /// The check failed, at this cost.
    case refused(RefusalCost)
    /// The check could not be completed.
    case check(Failure)
}

/// What a failed check cost.
public enum RefusalCost: Hashable, Sendable {
    /// Nothing yet: `left` more failures in a row are allowed before one costs a wait or the
    /// secret.
    case free(left: Int)
    /// The next attempt is allowed after this many seconds.
    case wait(seconds: Int64)
    /// The secret was wiped.
    case wiped
    /// Nothing: the vault cannot be written, so nothing is counted.
    case notCounted
}

/// The failures that are counted against a vault or an entry, and the remaining wait.
public struct LockOut: Hashable, Sendable {
    /// Consecutive attempts that were refused, or begun and never decided.
    public let failures: Int64
    /// Seconds until the next attempt is allowed; 0 if it is allowed now.
    public let seconds: Int64

    init(_ failures: Failures?, at reading: ClockReading) {
        // The file may have come from a client.
        self.init(
            failures: Int64(clamping: failures?.count ?? 0),
            seconds: Int64(clamping: failures?.rest(at: reading) ?? 0))
    }

    init(failures: Int64, seconds: Int64) {
        self.failures = failures
        self.seconds = seconds
    }

    /// After this many failures in a row, the next attempt must wait.
    package static var firstFailure: UInt64 { Failures.free }
    /// The waits in minutes after that failure and the following ones; the last is repeated.
    package static var minutes: [UInt64] { Failures.minutes }
}
