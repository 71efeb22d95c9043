internal import POSIX
package import Verification

extension UnixTime {
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
