package import Verification

extension UnixTime {
    /// The moment as RFC 3339 writes it, in UTC with milliseconds; years 0 to 9999.
    package var text: String {
        let (day, milliseconds) = Self.divide(
            min(max(self.milliseconds, Self.first), Self.last), by: 86_400_000)
        let (year, month, dayOfMonth) = Self.date(ofDay: day)
        let hour = milliseconds / 3_600_000
        let minute = milliseconds / 60_000 % 60
        let second = milliseconds / 1_000 % 60
        return "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(dayOfMonth, 2))"
            + "T\(Self.digits(hour, 2)):\(Self.digits(minute, 2)):\(Self.digits(second, 2))"
            + ".\(Self.digits(milliseconds % 1_000, 3))Z"
    }

    private static let first: Int64 = -62_167_219_200_000
    private static let last: Int64 = 253_402_300_799_999

    private static func divide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    // Years are counted from March on, so that the leap day is the last one; 400 years are an era.
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

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
