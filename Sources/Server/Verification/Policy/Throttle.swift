/// The failures of a credential and the resulting waits (RFC 4226, section 7.3; NIST SP 800-63B-4,
/// section 3.2.2).
///
/// EnrolledSecrets.md states the rules and proves their bounds.
struct Throttle: Hashable, Sendable {
    /// Failures since the last success, and earlier failures that the success did not forgive.
    private(set) var failures = 0
    /// Failures of strangers, which determine the wait of strangers.
    private(set) var level = 0
    /// The last failure of a stranger, which starts the wait; `nil` if the failure is forgiven.
    private(set) var failedAt: UnixTime?
    /// The wait of strangers in milliseconds; 0 if there is none.
    private(set) var wait: Int64 = 0
    /// When all failures so far will be forgiven at the rate of ``GuessLimits/interval``.
    private(set) var forgivenAt: UnixTime?
    /// The start of the current day of failures.
    private(set) var dayStart: UnixTime?
    /// The number of failures in that day, regardless of successes in between.
    private(set) var dayFailures = 0

    private static let day: Int64 = 86_400_000

    init() {}

    /// The consequence of a failure.
    enum Consequence: Hashable, Sendable {
        case none
        /// Attempts have to wait for the first time.
        ///
        /// Only this failure notifies the subject.
        case locked
        /// Attempts have to wait longer.
        case waiting
        /// The credential must be disabled.
        case disabled
    }

    /// The end of the current wait.
    var waitsUntil: UnixTime? { wait > 0 ? failedAt?.adding(milliseconds: wait) : nil }

    /// The remaining wait in milliseconds; `nil` if an attempt may be checked.
    ///
    /// If the clock was set back, the wait restarts once (``isAhead(of:)``). The remaining wait
    /// never exceeds ``wait``.
    func remainingWait(at now: UnixTime) -> Int64? {
        guard let failedAt else { return nil }
        let elapsed = max(now.milliseconds(since: failedAt), 0)
        return elapsed < wait ? wait - elapsed : nil
    }

    /// Whether the wait starts in the future, so that it must restart now.
    func isAhead(of now: UnixTime) -> Bool { failedAt.map { $0 > now } ?? false }

    mutating func restart(at now: UnixTime) {
        if failedAt != nil { failedAt = now }
    }

    /// Counts a failure.
    ///
    /// - Parameter isKnown: whether a known device presented the code, whose failures do not make
    ///   strangers wait.
    mutating func fail(
        at now: UnixTime, limits: GuessLimits, byKnownDevice isKnown: Bool = false
    ) -> Consequence {
        countInDay(now)
        forgiveLater(now, limits)
        failures = min(failures + 1, Int(UInt16.max))
        guard failures < limits.disablingFailures else {
            failedAt = nil
            wait = 0
            return .disabled
        }
        guard !isKnown else { return .none }
        level = min(level + 1, Self.highestLevel)
        failedAt = now
        guard level >= limits.firstFailureWithWait else { return .none }
        let doublings = min(level - limits.firstFailureWithWait, Self.highestLevel)
        wait = min(Policy.firstWait << Int64(doublings), limits.longestWait)
        return level == limits.firstFailureWithWait ? .locked : .waiting
    }

    /// The highest level; its wait is longer than any wait that ``GuessLimits`` permit.
    private static let highestLevel = 32

    private mutating func countInDay(_ now: UnixTime) {
        let elapsed = dayStart.map { now.milliseconds(since: $0) }
        if let elapsed, (0..<Self.day).contains(elapsed) {
            dayFailures = min(dayFailures + 1, Int(UInt16.max))
        } else {
            dayStart = now
            dayFailures = 1
        }
    }

    /// Extends ``forgivenAt`` by the time that forgives one failure.
    private mutating func forgiveLater(_ now: UnixTime, _ limits: GuessLimits) {
        guard limits.interval > 0 else {
            forgivenAt = nil
            return
        }
        // A later time was computed while the clock was ahead.
        let latest = now.adding(milliseconds: Int64(failures) * limits.interval)
        forgivenAt = min(max(forgivenAt ?? now, now), latest)
            .adding(milliseconds: limits.interval)
    }

    /// Forgives failures after a success (NIST SP 800-63B-4, section 3.2.2): all of them, or as
    /// many as the guessing bound permits.
    ///
    /// - Parameter isKnown: whether a known device presented the code. Such a success does not end
    ///   the wait of strangers, because each login of the owner would then permit more guesses.
    mutating func succeed(
        at now: UnixTime, limits: GuessLimits, byKnownDevice isKnown: Bool = false
    ) {
        failures = min(failures, unforgiven(now, limits))
        if isKnown, let failedAt, now.milliseconds(since: failedAt) < max(Self.day, wait) {
            self.failedAt = min(failedAt, now)
            return
        }
        level = min(level, failures)
        failedAt = nil
        wait = 0
    }

    private func unforgiven(_ now: UnixTime, _ limits: GuessLimits) -> Int {
        guard limits.interval > 0, let forgivenAt, forgivenAt > now else { return 0 }
        let distance = forgivenAt.milliseconds(since: now)
        return Int((distance - 1) / limits.interval + 1)
    }

    /// Ends the wait.
    ///
    /// The failures stay counted, because ending waits must not lift the overall limit.
    mutating func endWait() { wait = 0 }

    func write(into writer: inout ByteWriter) {
        writer.write(UInt16(failures))
        writer.writeOptional(failedAt) { $0.write($1) }
        writer.write(wait)
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        failures = Int(try reader.read(UInt16.self))
        level = min(failures, Self.highestLevel)
        failedAt = try reader.readOptionalTime()
        wait = try reader.read()
    }

    /// Writes the fields at the end of the row of a one-time password.
    func writeRest(into writer: inout ByteWriter) {
        writer.write(UInt8(level))
        writer.writeOptional(forgivenAt) { $0.write($1) }
        writer.writeOptional(dayStart) { $0.write($1) }
        writer.write(UInt16(dayFailures))
    }

    mutating func readRest(from reader: inout ByteReader) throws(VerifierError) {
        level = Int(try reader.read(UInt8.self))
        guard level <= Self.highestLevel else { throw .damagedRow }
        forgivenAt = try reader.readOptionalTime()
        dayStart = try reader.readOptionalTime()
        dayFailures = Int(try reader.read(UInt16.self))
    }
}

/// The limits on guessing the codes of a credential.
struct GuessLimits: Hashable, Sendable {
    /// The number of the first consecutive failure after which attempts have to wait.
    let firstFailureWithWait: Int
    /// The number of failures that disable the credential.
    let disablingFailures: Int
    /// The time in which a success forgives one failure, in milliseconds; 0 if it forgives all.
    let interval: Int64
    /// The longest wait, in milliseconds.
    let longestWait: Int64

    /// The number of failures within a day that is reported.
    static let reportedFailures = 10

    private static let year: Int64 = 365 * 86_400_000

    /// The limits without a guessing bound.
    init(_ policy: Policy) {
        firstFailureWithWait = policy.firstFailureWithWait
        disablingFailures = policy.disablingFailures
        interval = 0
        longestWait = Policy.longestWait
    }

    /// The limits of recovery codes.
    ///
    /// A code of 80 bits cannot be guessed, so wrong codes never disable a set or delay it for
    /// long. A limit is required below 64 bits (NIST SP 800-63B-4, section 3.1.2.2).
    init(ofRecoveryCodes policy: Policy) {
        firstFailureWithWait = policy.firstFailureWithWait
        disablingFailures = .max
        interval = 0
        longestWait = Policy.firstWait
    }

    /// The limits of a credential that has codes with `digits` digits, of which `codes` are valid
    /// at any moment.
    ///
    /// A guessing bound permits a number of guesses a year. The credential is disabled after half
    /// of these guesses at the latest; the other half is forgiven in the course of a year.
    init(_ policy: Policy, codes: Int, digits: Int) {
        let most = Int64(policy.disablingFailures)
        let guesses = policy.guessBound.map { Self.guesses($0, codes: codes, digits: digits) }
        let disabling = guesses.map { min(most, max($0 / 2, 1)) } ?? most
        firstFailureWithWait = policy.firstFailureWithWait
        disablingFailures = Int(disabling)
        interval = guesses.map { (Self.year - 1) / max($0 - disabling, 1) + 1 } ?? 0
        longestWait = max(Policy.longestWait, interval)
    }

    /// The number of guesses that succeed with a total probability of at most `bound`.
    static func guesses(_ bound: GuessBound, codes: Int, digits: Int) -> Int64 {
        bound.millionths * allValues / (1_000_000 * values(yielding: codes, digits: digits))
    }

    /// The smallest bound that permits this number of guesses, in millionths.
    static func bound(permitting guesses: Int64, codes: Int, digits: Int) -> Int64 {
        (guesses * 1_000_000 * values(yielding: codes, digits: digits) - 1) / allValues + 1
    }

    /// The number of different values from which a code is computed.
    private static let allValues: Int64 = 1 << 31

    /// The largest number of values that yield one of `codes` codes.
    ///
    /// The most probable codes occur ⌈2^31 / 10^digits⌉ times (RFC 4226, section 5.3).
    private static func values(yielding codes: Int, digits: Int) -> Int64 {
        let codeValues = (0..<digits).reduce(1 as Int64) { power, _ in power * 10 }
        return ((allValues - 1) / codeValues + 1) * Int64(codes)
    }
}
