import Arguments
import POSIX
import Verification
import VerificationService

/// The clock by which a database is restored: what it says decides which codes are refused for good.
struct RestoringClock {
    let now: UnixTime
    /// Whether the administrator vouches for it.
    let isTrusted: Bool

    /// - Throws: ``ServerFailure/doubtfulClock(_:isPossible:)`` when nobody vouches for the clock.
    init(
        _ arguments: ServerArguments, now: UnixTime = Backing.now(), state: ClockState = .current()
    ) throws(ServerFailure) {
        isTrusted = arguments.has(.clockIsRight)
        self.now = now
        let requirement = ClockRequirement(profile: .wide, asksKernel: !isTrusted)
        guard requirement.complaint(now: now, state: state) == nil else {
            throw .doubtfulClock(now, isPossible: now >= requirement.builtAt)
        }
    }
}

extension ClockState {
    /// What the kernel says now.
    @Sendable static func current() -> ClockState {
        switch SystemClock.isSynchronized() {
        case true?: .synchronized(maximalError: SystemClock.maximalError() ?? .max)
        case false?: .unsynchronized
        case nil: .unknown
        }
    }
}
