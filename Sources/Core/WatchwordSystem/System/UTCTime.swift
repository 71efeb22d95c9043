internal import Glibc

/// A date and a time of day in UTC, in the Gregorian calendar, without leap seconds.
///
/// The C library converts the time, which is first moved by a multiple of 400 years (the period
/// after which the calendar repeats) into the years 1570 to 1969. Outside them, `gmtime_r` fails if
/// a year needs more than 32 bits, and counts leap seconds from 1972 onwards if `TZ` names a zone
/// in `right/`.
package struct UTCTime: Hashable, Sendable {
    package let year: Int
    /// From 1 to 12.
    package let month: Int
    /// From 1 to 31.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    /// The Unix times of the years 0 to 9999, which RFC 3339 can represent.
    package static let fourDigitYears: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// The seconds in 400 years.
    private static let cycle: Int64 = 146_097 * 86_400

    /// The date and the time of day at `unixTime`.
    package init(unixTime: Int64) {
        var seconds = time_t(unixTime % Self.cycle)
        var cycles = Int(unixTime / Self.cycle)
        if seconds >= 0 {
            seconds -= time_t(Self.cycle)
            cycles += 1
        }
        // `tm` is unsafe because it holds a pointer to the zone's name, which is not used here.
        var fields = unsafe tm()
        // The call fails only for a year that needs more than 32 bits.
        unsafe gmtime_r(&seconds, &fields)
        year = unsafe Int(fields.tm_year) + 1900 + 400 * cycles
        month = unsafe Int(fields.tm_mon) + 1
        day = unsafe Int(fields.tm_mday)
        hour = unsafe Int(fields.tm_hour)
        minute = unsafe Int(fields.tm_min)
        second = unsafe Int(fields.tm_sec)
    }

    /// The Unix time at the start of a day; `nil` if there is no such day in the years 0 to 9999.
    package static func startOfDay(year: Int, month: Int, day: Int) -> Int64? {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else {
            return nil
        }
        let yearOfCycle = (year + 30) % 400
        var fields = unsafe tm()
        unsafe fields.tm_year = Int32(1570 + yearOfCycle - 1900)
        unsafe fields.tm_mon = Int32(month - 1)
        unsafe fields.tm_mday = Int32(day)
        let seconds = unsafe timegm(&fields)
        // `timegm` converts an invalid date, such as 31 April, to one in the next month.
        guard unsafe fields.tm_mday == Int32(day) else { return nil }
        return Int64(seconds) + Int64((year - 1570 - yearOfCycle) / 400) * cycle
    }

    /// The text as in RFC 3339, without a fraction of a second and without the offset:
    /// `2026-11-21T01:09:30`.
    ///
    /// A year outside 0 to 9999 has a sign or more digits.
    package var text: String {
        var text = ""
        // Leaves room for a fraction and the offset.
        text.reserveCapacity(24)
        if year < 0 { text += "-" }
        Self.append(year, "", count: 4, to: &text)
        Self.append(month, "-", count: 2, to: &text)
        Self.append(day, "-", count: 2, to: &text)
        Self.append(hour, "T", count: 2, to: &text)
        Self.append(minute, ":", count: 2, to: &text)
        Self.append(second, ":", count: 2, to: &text)
        return text
    }

    private static func append(
        _ number: Int, _ separator: String, count: Int, to text: inout String
    ) {
        let digits = String(number.magnitude)
        text += separator
        for _ in 0..<max(0, count - digits.utf8.count) { text += "0" }
        text += digits
    }
}
