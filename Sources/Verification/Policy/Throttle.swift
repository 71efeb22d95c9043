/// The consecutive failures of a credential and the resulting wait (RFC 4226, section 7.3; NIST SP
/// 800-63B-4, section 3.2.2).
struct Throttle: Hashable, Sendable {
    /// Failures since the last success.
    private(set) var failures = 0
    /// The start of the current wait; `nil` if there is none.
    private(set) var waitsSince: UnixTime?
    /// The length of the current wait in milliseconds.
    private(set) var wait: Int64 = 0

    private static let firstWait: Int64 = 30_000
    private static let longestWait: Int64 = 3_600_000

    init() {}

    /// The consequence of a failure.
    enum Consequence: Hashable, Sendable {
        /// None.
        case none
        /// Attempts have to wait, for the first time.
        ///
        /// The subject is notified only now.
        case locked
        /// Attempts have to wait longer.
        case waiting
        /// The credential must be disabled.
        case disabled
    }

    /// The end of the current wait.
    var waitsUntil: UnixTime? { waitsSince?.adding(milliseconds: wait) }

    /// The remaining wait in milliseconds; `nil` if an attempt may be checked.
    ///
    /// If the clock was set back, the wait restarts once (``isAhead(of:)``). It never becomes
    /// longer than ``wait``.
    func remainingWait(at now: UnixTime) -> Int64? {
        guard let waitsSince else { return nil }
        let elapsed = max(now.milliseconds(since: waitsSince), 0)
        return elapsed < wait ? wait - elapsed : nil
    }

    /// Whether the wait started in the future, so that it must restart now.
    func isAhead(of now: UnixTime) -> Bool { waitsSince.map { $0 > now } ?? false }

    mutating func restart(at now: UnixTime) {
        if waitsSince != nil { waitsSince = now }
    }

    /// Counts a failure.
    mutating func fail(at now: UnixTime, policy: Policy) -> Consequence {
        failures += 1
        guard failures < policy.disablingFailures else {
            waitsSince = nil
            return .disabled
        }
        guard failures >= policy.freeFailures else { return .none }
        let doublings = min(failures - policy.freeFailures, 10)
        wait = min(Self.firstWait << Int64(doublings), Self.longestWait)
        waitsSince = now
        return failures == policy.freeFailures ? .locked : .waiting
    }

    /// Resets all failures (NIST SP 800-63B-4, section 3.2.2).
    mutating func succeed() { self = Throttle() }

    /// Ends the wait.
    ///
    /// The failures stay counted, because ending waits must not lift the overall limit.
    mutating func endWait() {
        waitsSince = nil
        wait = 0
    }

    func write(into writer: inout ByteWriter) {
        writer.write(UInt16(failures))
        writer.writeOptional(waitsSince) { $0.write($1) }
        writer.write(wait)
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        failures = Int(try reader.read(UInt16.self))
        waitsSince = try reader.readOptionalTime()
        wait = try reader.read()
    }
}
