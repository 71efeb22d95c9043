internal import WatchwordSystem

/// A time given as Unix seconds or RFC 3339 (section 5.6).
package struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    package let unixTime: Int64

    package init(unixTime: Int64) { self.unixTime = unixTime }

    /// Parses whole seconds (`1763687370`, `-1`) or RFC 3339 (`2026-11-21T01:09:30Z`).
    ///
    /// A fraction of a second is discarded. Returns `nil` for any other text.
    package init?(parsing text: String) {
        if let seconds = Int64(text), !text.hasPrefix("+") {
            unixTime = seconds
            return
        }
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let seconds = reader.dateAndTime(), reader.rest.isEmpty else { return nil }
        unixTime = seconds
    }

    /// Whether RFC 3339 can represent the time: its years have four digits.
    package var isWritable: Bool { UTCTime.fourDigitYears.contains(unixTime) }

    /// The time in RFC 3339 format in UTC, such as `2026-11-21T01:09:30Z`; years after 9999 have
    /// more digits.
    package var text: String { UTCTime(unixTime: unixTime).text + "Z" }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func dateAndTime() -> Int64? {
            guard let year = number(4), take("-"), let month = number(2), take("-"),
                let day = number(2), take("T") || take("t") || take(" "),
                let hour = number(2), take(":"), let minute = number(2), take(":"),
                let second = number(2), skipFraction(), let offset = offset()
            else { return nil }
            // Second 60 is a leap second, which Unix time does not count.
            guard let midnight = UTCTime.startOfDay(year: year, month: month, day: day),
                hour <= 23, minute <= 59, second <= 60
            else { return nil }
            return midnight + Int64(hour * 3600 + minute * 60 + second - offset)
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func number(_ width: Int) -> Int? {
            let digits = rest.prefix(width)
            guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            rest = rest.dropFirst(width)
            return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        private mutating func skipFraction() -> Bool {
            guard take(".") else { return true }
            let before = rest.count
            rest = rest.drop { (0x30...0x39).contains($0) }
            return rest.count < before
        }

        /// Seconds east of UTC.
        private mutating func offset() -> Int? {
            if take("Z") || take("z") { return 0 }
            let isWest = rest.first == UInt8(ascii: "-")
            guard take("+") || take("-"), let hour = number(2), take(":"), let minute = number(2),
                hour <= 23, minute <= 59
            else { return nil }
            return (isWest ? -1 : 1) * (hour * 3600 + minute * 60)
        }
    }
}
