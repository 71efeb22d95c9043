import CommandLineInterface
import Verification
import VerificationService
import WatchwordSystem

/// The clock of `restore`, whose time decides which codes are refused permanently.
struct RestoreClock {
    let now: UnixTime
    /// Whether the administrator has confirmed that the time is correct.
    let isTrusted: Bool

    /// - Throws: ``ServerFailure/untrustedClock(_:isPossible:)`` if the clock cannot be trusted.
    init(
        _ arguments: ServerArguments, now: UnixTime = ServerContext.now(),
        state: ClockState = .current()
    ) throws(ServerFailure) {
        isTrusted = arguments.has(.clockIsRight)
        self.now = now
        let requirement = ClockRequirement(profile: .wide, asksKernel: !isTrusted)
        guard requirement.complaint(now: now, state: state) == nil else {
            throw .untrustedClock(now, isPossible: now >= requirement.builtAt)
        }
    }
}

extension ClockState {
    /// The current state according to the kernel.
    @Sendable static func current() -> ClockState {
        switch SystemClock.isSynchronized() {
        case true?: .synchronized(maximumError: SystemClock.maximumError() ?? .max)
        case false?: .unsynchronized
        case nil: .unknown
        }
    }
}
