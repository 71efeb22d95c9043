internal import WatchwordSystem

/// A time, in milliseconds since 1970-01-01 00:00 UTC, without leap seconds.
///
/// Times before 1970 are negative. Arithmetic saturates at the ends of the range.
public struct UnixTime: Comparable, Hashable, Sendable {
    /// The milliseconds since 1970-01-01 00:00 UTC.
    public let milliseconds: Int64

    /// Takes the milliseconds since 1970-01-01 00:00 UTC.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Takes whole seconds since 1970-01-01 00:00 UTC, saturating at the ends of the range.
    public init(seconds: Int64) {
        let (product, isOutside) = seconds.multipliedReportingOverflow(by: 1_000)
        milliseconds = isOutside ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 {
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The time that is later by this number of milliseconds, or earlier if it is negative.
    public func adding(milliseconds distance: Int64) -> UnixTime {
        let (sum, isOutside) = milliseconds.addingReportingOverflow(distance)
        return UnixTime(milliseconds: isOutside ? (distance < 0 ? .min : .max) : sum)
    }

    /// The time that is later by this number of seconds, or earlier if it is negative.
    public func adding(seconds: Int64) -> UnixTime {
        adding(milliseconds: UnixTime(seconds: seconds).milliseconds)
    }

    /// Milliseconds from `earlier` to this time; negative if this time is earlier.
    public func milliseconds(since earlier: UnixTime) -> Int64 {
        let (distance, isOutside) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return isOutside ? (milliseconds < earlier.milliseconds ? .min : .max) : distance
    }

    /// The time step (RFC 6238); `nil` before 1970.
    func step(ofPeriod period: Int) -> UInt64? {
        milliseconds < 0 ? nil : UInt64(seconds) / UInt64(period)
    }

    /// Orders times, the earlier one first.
    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The time in RFC 3339 format, in UTC with milliseconds; limited to the years 0 to 9999.
    package var text: String {
        let (first, last) = (UTCTime.fourDigitYears.lowerBound, UTCTime.fourDigitYears.upperBound)
        // Counted from the year 0, so that no time is negative.
        let elapsed = min(max(milliseconds, first * 1_000), last * 1_000 + 999) - first * 1_000
        let time = UTCTime(unixTime: first + elapsed / 1_000)
        let fraction = String(1_000 + elapsed % 1_000).dropFirst()
        return time.text + ".\(fraction)Z"
    }
}
