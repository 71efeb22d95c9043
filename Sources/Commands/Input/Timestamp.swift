/// A time given as Unix seconds or RFC 3339 (section 5.6).
struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    let unixTime: Int64

    init(unixTime: Int64) { self.unixTime = unixTime }

    /// Parses whole seconds (`1763687370`, `-1`) or RFC 3339 (`2026-11-21T01:09:30Z`).
    ///
    /// A fraction of a second is discarded. `nil` if `text` is neither.
    init?(parsing text: String) {
        if let seconds = Int64(text), !text.hasPrefix("+") {
            unixTime = seconds
            return
        }
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let seconds = reader.dateAndTime(), reader.rest.isEmpty else { return nil }
        unixTime = seconds
    }

    /// Whether RFC 3339 can represent the time: its years have four digits.
    var isWritable: Bool { (-62_167_219_200...253_402_300_799).contains(unixTime) }

    /// The time in RFC 3339 format in UTC, such as `2026-11-21T01:09:30Z`; years after 9999 have more digits.
    var text: String {
        let days = Timestamp.floorDivision(unixTime, 86_400)
        // Not `unixTime - days * 86_400`: on the first representable day, `days * 86_400` underflows.
        let seconds = (unixTime % 86_400 + 86_400) % 86_400
        let (year, month, day) = Timestamp.date(days: days)
        let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { Timestamp.padded($0, 2) }
        return Timestamp.padded(year, 4) + "-" + Timestamp.padded(month, 2) + "-"
            + Timestamp.padded(day, 2) + "T" + time.joined(separator: ":") + "Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number.magnitude)
        let zeros = String(repeating: "0", count: max(0, width - digits.count))
        return (number < 0 ? "-" : "") + zeros + digits
    }

    private static func floorDivision(_ number: Int64, _ divisor: Int64) -> Int64 {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }

    // Both directions count years from March, so that the leap day is the last day of a year, and use
    // eras of 400 years, each of which has 146,097 days.

    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivision(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivision(shifted, 400)
        let yearOfEra = shifted - era * 400
        let fromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * fromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func dateAndTime() -> Int64? {
            guard let year = number(4), take("-"), let month = number(2), take("-"),
                let day = number(2), take("T") || take("t") || take(" "),
                let hour = number(2), take(":"), let minute = number(2), take(":"),
                let second = number(2), skipFraction(), let offset = offset()
            else { return nil }
            // Second 60 is a leap second, which Unix time does not count.
            guard (1...12).contains(month), day >= 1, day <= Timestamp.days(in: month, of: year),
                hour <= 23, minute <= 59, second <= 60
            else { return nil }
            let days = Timestamp.days(year: year, month: month, day: day)
            return days * 86_400 + hour * 3600 + minute * 60 + second - offset
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func number(_ width: Int) -> Int64? {
            let digits = rest.prefix(width)
            guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            rest = rest.dropFirst(width)
            return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        private mutating func skipFraction() -> Bool {
            guard take(".") else { return true }
            let before = rest.count
            rest = rest.drop { (0x30...0x39).contains($0) }
            return rest.count < before
        }

        /// Seconds east of UTC.
        private mutating func offset() -> Int64? {
            if take("Z") || take("z") { return 0 }
            let isWest = rest.first == UInt8(ascii: "-")
            guard take("+") || take("-"), let hour = number(2), take(":"), let minute = number(2),
                hour <= 23, minute <= 59
            else { return nil }
            return (isWest ? -1 : 1) * (hour * 3600 + minute * 60)
        }
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
