/// The division of time into steps (RFC 6238, section 4.1: X and T0).
public struct TimeStep: Hashable, Sendable {
    /// Seconds in a step, at least 1.
    public let period: Int64
    /// The Unix time at which step 0 begins.
    public let start: Int64

    /// Thirty seconds from the Unix epoch on, which nearly everybody uses.
    public static let standard = TimeStep(checkedPeriod: 30, start: 0)

    /// Takes a period of at least one second, and a start, which may lie before 1970.
    ///
    /// - Throws: ``TimeStepError/periodOutOfRange`` for a period of zero or less.
    public init(period: Int64, start: Int64 = 0) throws(TimeStepError) {
        guard period >= 1 else { throw .periodOutOfRange }
        self.init(checkedPeriod: period, start: start)
    }

    private init(checkedPeriod period: Int64, start: Int64) {
        self.period = period
        self.start = start
    }

    /// The step that `unixTime` lies in.
    ///
    /// - Throws: ``TimeStepError/beforeStart`` for a time before the start.
    public func step(at unixTime: Int64) throws(TimeStepError) -> UInt64 {
        try elapsed(at: unixTime) / UInt64(period)
    }

    /// Seconds until the next step begins: 1 to the whole period.
    ///
    /// - Throws: ``TimeStepError/beforeStart`` for a time before the start.
    public func remaining(at unixTime: Int64) throws(TimeStepError) -> Int64 {
        period - Int64(try elapsed(at: unixTime) % UInt64(period))
    }

    /// Seconds since the start; the widest distance of two `Int64` fits.
    private func elapsed(at unixTime: Int64) throws(TimeStepError) -> UInt64 {
        guard unixTime >= start else { throw .beforeStart }
        return UInt64(bitPattern: unixTime &- start)
    }
}

/// Why there is no such step.
public enum TimeStepError: Error, Hashable, Sendable {
    /// A period lasts at least one second.
    case periodOutOfRange
    /// The time lies before the first step.
    case beforeStart
}
