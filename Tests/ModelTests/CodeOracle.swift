@testable import Verification

/// The facts about earlier responses that decide whether the next response follows the rules of
/// EnrolledSecrets.md, tracked independently of the code under test.
struct CodeOracle: Hashable, Sendable {
    /// Every step that was ever accepted, including in a database that was lost later.
    var accepted: Set<UInt64> = []
    private(set) var failures = 0
    private(set) var isDisabled = false
    private(set) var violation: String?
    private var wait: (since: UnixTime, milliseconds: Int64)? {
        get { waitsSince.map { ($0, waitLength) } }
        set {
            waitsSince = newValue?.since
            waitLength = newValue?.milliseconds ?? 0
        }
    }
    private var waitsSince: UnixTime?
    private var waitLength: Int64 = 0
    /// When a login last changed the tracked drift; `nil` since the enrolment or a
    /// resynchronisation.
    private var driftAdjustedAt: UnixTime?
    private let firstFailureWithWait: Int
    private let disablingFailures: Int

    static let mostDrift: UInt64 = 20
    private static let driftInterval: Int64 = 86_400_000

    init(_ policy: Policy) {
        firstFailureWithWait = policy.firstFailureWithWait
        disablingFailures = policy.disablingFailures
    }

    /// Judges a response that was decided at `now`, and records it.
    mutating func enter(
        _ result: VerificationOutcome.Result, to request: CodeModel.Request, at now: UnixTime,
        before: TOTPState?, after: TOTPState?
    ) {
        switch result {
        case .accepted:
            checkMayBeLookedAt(now, request)
            for step in request.steps {
                if !accepted.insert(step).inserted { fail("step \(step) was accepted twice") }
            }
            if request.steps.isEmpty { fail("a wrong code was accepted") }
            failures = 0
            wait = nil
            followDrift(request, now, from: before?.drift ?? 0, to: after?.drift ?? 0)
        case .denied(.wrong):
            checkMayBeLookedAt(now, request)
            if case .code(let step) = request, let before, !before.isSpent(step),
                before.expectedStep(at: now) == step
            {
                fail("the expected code was refused")
            }
            failures += 1
            if failures >= disablingFailures {
                isDisabled = true
            } else if failures >= firstFailureWithWait {
                let doublings = min(failures - firstFailureWithWait, 7)
                wait = (now, min(30_000 << Int64(doublings), 3_600_000))
            }
        case .denied(.throttled):
            guard let wait else {
                fail("throttled, but no wait was due")
                return
            }
            // If the clock was set back, the wait starts again.
            if now < wait.since { self.wait = (now, wait.milliseconds) }
        case .denied(.disabled): if !isDisabled { fail("reported as disabled too early") }
        case .denied(.replayed), .denied(.unknown): break
        }
    }

    /// Returns to the state at the time of the backup.
    ///
    /// Steps accepted since then stay accepted.
    mutating func restore(_ earlier: CodeOracle) {
        let accepted = accepted
        self = earlier
        self.accepted = accepted
    }

    private mutating func checkMayBeLookedAt(_ now: UnixTime, _ request: CodeModel.Request) {
        if isDisabled { fail("\(request) was checked, but the credential is disabled") }
        if let wait, now.milliseconds(since: wait.since) < wait.milliseconds {
            fail("\(request) was checked during a wait")
        }
    }

    private mutating func followDrift(
        _ request: CodeModel.Request, _ now: UnixTime, from old: Int64, to new: Int64
    ) {
        if case .resynchronization = request {
            driftAdjustedAt = nil
            return
        }
        guard new != old else { return }
        if (new - old).magnitude > 1 { fail("one login changed the drift from \(old) to \(new)") }
        if let driftAdjustedAt, now.milliseconds(since: driftAdjustedAt) < Self.driftInterval {
            fail("the drift changed twice in a day")
        }
        driftAdjustedAt = now
    }

    private mutating func fail(_ message: String) { violation = violation ?? message }
}

extension CodeModel.Request {
    /// The steps whose codes are presented.
    var steps: [UInt64] {
        switch self {
        case .code(let step), .confirmation(let step): [step]
        case .resynchronization(let step): [step - 1, step]
        case .wrongCode: []
        }
    }
}
