internal import Verification

/// What a signature counter shows.
public enum CounterFinding: String, CaseIterable, Hashable, Sendable {
    /// The authenticator does not count.
    case none
    /// It increased.
    case ok
    /// It did not increase: there may be a copy of the passkey.
    case rollback
}

/// What a correct signature means under the ceremony's policy.
struct AssertionPolicy: Hashable, Sendable {
    let policy: PasskeyPolicy
    /// Whether the passkey could be copied when it was registered, or in an accepted ceremony since.
    let wasEverBackupEligible: Bool
    /// The flags of the last accepted ceremony.
    let stored: PasskeyFlags
    /// The flags of this ceremony.
    let flags: PasskeyFlags
    /// The highest accepted signature counter.
    let storedCount: UInt32
    /// The signature counter of this ceremony.
    let count: UInt32
    /// Whether a ceremony that verified the user was ever accepted.
    let wasUserVerified: Bool
    /// Whether the passkey was accepted in this browser before.
    let isKnownDevice: Bool

    /// The result.
    enum Verdict: Hashable, Sendable {
        /// The signature is accepted, unless it needs a second proof.
        case accepted(stepUp: [StepUpReason])
        case denied(DenialReason)
    }

    /// What the counter shows.
    var counter: CounterFinding {
        if storedCount == 0, count == 0 { return .none }
        return count > storedCount ? .ok : .rollback
    }

    /// Whether the passkey's backup flags are not those of the last accepted ceremony.
    var hasBackupChanged: Bool {
        stored.isBackupEligible != flags.isBackupEligible || stored.isBackedUp != flags.isBackedUp
    }

    /// Decides; a denial takes precedence over a step-up.
    var verdict: Verdict {
        if let denial { return .denied(denial) }
        var stepUp: [StepUpReason] = []
        if policy.backup == .stepUp {
            switch (stored.isBackupEligible, flags.isBackupEligible) {
            case (false, false):
                // The passkey can no longer be copied, but there may be a copy.
                if wasEverBackupEligible, !isKnownDevice { stepUp.append(.newDevice) }
            case (true, true): if !isKnownDevice { stepUp.append(.newDevice) }
            case (false, true): stepUp.append(.becameSyncable)
            case (true, false): stepUp.append(.backupFlags)
            }
        }
        if policy.userVerification != .discouraged, flags.isUserVerified, !wasUserVerified {
            stepUp.append(.firstVerification)
        }
        if policy.counter == .stepUp, counter == .rollback { stepUp.append(.counter) }
        return .accepted(stepUp: stepUp)
    }

    private var denial: DenialReason? {
        if policy.userVerification == .required, !flags.isUserVerified { return .userVerification }
        if policy.backup == .deviceBound {
            switch (stored.isBackupEligible, flags.isBackupEligible) {
            case (false, false):
                if wasEverBackupEligible { return .backupEligibilityChanged }
            case (true, true): return .notDeviceBound
            case (false, true), (true, false): return .backupEligibilityChanged
            }
        }
        return policy.counter == .deny && counter == .rollback ? .counter : nil
    }
}
