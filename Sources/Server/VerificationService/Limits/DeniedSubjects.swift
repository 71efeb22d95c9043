internal import Synchronization

/// Notices codes that are denied for many different subjects in a short time: somebody tries a few
/// codes each on many subjects, so that no credential's limit is reached.
///
/// It only reports this. The subjects are those whose codes this process denied, whatever the reason,
/// so that nothing depends on whether a subject exists.
final class DeniedSubjects: Sendable {
    private struct Period {
        var number: Int64 = 0
        /// Hashes under a random key; two subjects share one with a negligible probability.
        var subjects: Set<Int> = []
        /// The subjects whose codes were accepted.
        var accepted: Set<Int> = []
        var isReported = false
    }

    /// The number of subjects from which on a period is reported.
    static let reportedCount = 50
    /// The maximum number of subjects that are told apart.
    static let capacity = 10_000

    private let start: ContinuousClock.Instant
    private let period = Mutex(Period())

    init(start: ContinuousClock.Instant) { self.start = start }

    /// Records a decision about a subject's code.
    ///
    /// - Returns: whether to report the period: its codes were denied for at least
    ///   ``reportedCount`` subjects, and for more subjects than those whose codes were accepted.
    func enter(
        _ subject: String, isAccepted: Bool, at now: ContinuousClock.Instant
    ) -> Bool {
        let number = number(now)
        return period.withLock { period in
            if period.number != number { period = Period(number: number) }
            guard !isAccepted else {
                if period.accepted.count < Self.capacity {
                    period.accepted.insert(subject.hashValue)
                }
                return false
            }
            if period.subjects.count < Self.capacity { period.subjects.insert(subject.hashValue) }
            guard !period.isReported, period.subjects.count >= Self.reportedCount,
                period.subjects.count > period.accepted.count
            else { return false }
            period.isReported = true
            return true
        }
    }

    /// The number of subjects for whom codes were denied in the current period.
    func count(at now: ContinuousClock.Instant) -> Int {
        let number = number(now)
        return period.withLock { $0.number == number ? $0.subjects.count : 0 }
    }

    /// The period: ten minutes.
    private func number(_ now: ContinuousClock.Instant) -> Int64 {
        (now - start).components.seconds / 600
    }
}
