/// Consecutive failures of a credential, and the wait that follows from them (RFC 4226, section 7.3;
/// NIST SP 800-63B-4, section 3.2.2).
struct Throttle: Hashable, Sendable {
    /// Failures since the last success.
    private(set) var failures = 0
    /// When the running wait began; nothing when there is none.
    private(set) var waitsSince: UnixTime?
    /// Milliseconds of the running wait.
    private(set) var wait: Int64 = 0

    private static let firstWait: Int64 = 30_000
    private static let longestWait: Int64 = 3_600_000

    init() {}

    /// What a further failure leads to.
    enum Consequence: Hashable, Sendable {
        /// Nothing yet.
        case none
        /// Attempts have to wait, for the first time: the one moment to tell the subject.
        case locked
        /// Attempts have to wait longer.
        case waiting
        /// The credential must not be used any more.
        case disabled
    }

    /// Until when attempts have to wait.
    var waitsUntil: UnixTime? { waitsSince?.adding(milliseconds: wait) }

    /// Milliseconds that an attempt has to wait yet; nothing when it may be looked at.
    ///
    /// A clock that was set back makes the wait begin again, once (``isAhead(of:)``), and never
    /// makes it longer than it is.
    func remainingWait(at now: UnixTime) -> Int64? {
        guard let waitsSince else { return nil }
        let elapsed = max(now.milliseconds(since: waitsSince), 0)
        return elapsed < wait ? wait - elapsed : nil
    }

    /// Whether the wait began at a time that is yet to come, so that it has to begin anew now.
    func isAhead(of now: UnixTime) -> Bool { waitsSince.map { $0 > now } ?? false }

    /// Lets a running wait begin at `now`.
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

    /// Forgets all failures (NIST SP 800-63B-4, section 3.2.2).
    mutating func succeed() { self = Throttle() }

    /// Ends the wait; the failures stay, because lifting waits must not lift the limit above all.
    mutating func liftWait() {
        waitsSince = nil
        wait = 0
    }

    func write(into writer: inout ByteWriter) {
        writer.write(UInt16(failures))
        writer.writeIfThere(waitsSince) { $0.write($1) }
        writer.write(wait)
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        failures = Int(try reader.read(UInt16.self))
        waitsSince = try reader.readTimeIfThere()
        wait = try reader.read()
    }
}
