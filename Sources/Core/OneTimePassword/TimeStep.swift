/// The division of time into time steps (RFC 6238, section 4.1: X and T0).
public struct TimeStep: Hashable, Sendable {
    /// The length of a step in seconds, at least 1.
    public let period: Int64
    /// The Unix time at which step 0 begins.
    public let start: Int64

    /// Thirty-second steps that start at the Unix epoch, which almost every service uses.
    public static let standard = TimeStep(checkedPeriod: 30, start: 0)

    /// Steps of this period; `nil` if it is shorter than a second.
    ///
    /// The start may be before 1970.
    public init?(period: Int64, start: Int64 = 0) {
        guard period >= 1 else { return nil }
        self.init(checkedPeriod: period, start: start)
    }

    private init(checkedPeriod period: Int64, start: Int64) {
        self.period = period
        self.start = start
    }

    /// The time step that contains `unixTime`; `nil` for a time before the start.
    public func step(at unixTime: Int64) -> UInt64? {
        elapsed(at: unixTime).map { $0 / UInt64(period) }
    }

    /// Seconds until the next step begins, from 1 to the whole period; `nil` for a time before the
    /// start.
    public func remaining(at unixTime: Int64) -> Int64? {
        elapsed(at: unixTime).map { period - Int64($0 % UInt64(period)) }
    }

    /// Seconds since the start; `nil` for a time before it.
    ///
    /// `UInt64` holds the largest difference of two `Int64` values.
    private func elapsed(at unixTime: Int64) -> UInt64? {
        unixTime >= start ? UInt64(bitPattern: unixTime &- start) : nil
    }
}

/// The moving factor, which changes from code to code (RFC 4226, section 5.1; RFC 6238, section 4).
public enum MovingFactor: Hashable, Sendable {
    /// The time step: TOTP.
    case time(TimeStep)
    /// A counter, with the value for the next code: HOTP.
    case counter(UInt64)

    /// Whether the moving factor is a counter, as in HOTP.
    var isCounter: Bool {
        switch self {
        case .time: false
        case .counter: true
        }
    }
}
