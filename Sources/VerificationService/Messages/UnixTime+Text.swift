package import Verification

extension UnixTime {
    /// The time in RFC 3339 format, in UTC with milliseconds; limited to the years 0 to 9999.
    package var text: String {
        let (day, milliseconds) = Self.divide(
            min(max(self.milliseconds, Self.first), Self.last), by: 86_400_000)
        let (year, month, dayOfMonth) = Self.date(ofDay: day)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        func write(_ value: Int64, _ count: Int, _ end: Unicode.Scalar) {
            var divisor: Int64 = count == 4 ? 1_000 : count == 3 ? 100 : 10
            while divisor > 0 {
                text.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
                divisor /= 10
            }
            text.append(UInt8(ascii: end))
        }
        write(year, 4, "-")
        write(month, 2, "-")
        write(dayOfMonth, 2, "T")
        write(milliseconds / 3_600_000, 2, ":")
        write(milliseconds / 60_000 % 60, 2, ":")
        write(milliseconds / 1_000 % 60, 2, ".")
        write(milliseconds % 1_000, 3, "Z")
        return String(decoding: text, as: UTF8.self)
    }

    private static let first: Int64 = -62_167_219_200_000
    private static let last: Int64 = 253_402_300_799_999

    private static func divide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    // Counts years from March, so that the leap day comes last. An era is 400 years.
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = divide(day + 719_468, by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isBeforeMarch = month >= 10
        return (
            yearOfEra + era * 400 + (isBeforeMarch ? 1 : 0),
            isBeforeMarch ? month - 9 : month + 3, dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}
