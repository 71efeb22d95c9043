internal import CLinux
internal import Glibc

/// The system's clock, read only at the top level of a program.
public enum SystemClock {
    /// Seconds since 1970-01-01 00:00 UTC, without leap seconds.
    public static func unixTime() -> Int64 {
        var now = timespec()
        // CLOCK_REALTIME exists on every Linux; the call cannot fail with a valid address.
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec)
    }

    /// Milliseconds within the current second, 0 to 999, so that a countdown can wake exactly on
    /// the second.
    public static func milliseconds() -> Int {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return now.tv_nsec / 1_000_000
    }

    /// Whole seconds since the kernel started, including system sleep.
    ///
    /// This clock cannot be set.
    public static func bootTime() -> Int64 {
        var now = timespec()
        // CLOCK_BOOTTIME has existed since Linux 2.6.39.
        unsafe clock_gettime(CLOCK_BOOTTIME, &now)
        return Int64(now.tv_sec)
    }

    /// Whether the boot clock may be shifted.
    ///
    /// The clock may be shifted in every time namespace except the system's first one: any user can
    /// create one, with any offset (time_namespaces(7)).
    ///
    /// The kernel gives the first namespace a fixed number. A comparison with the namespace of
    /// process 1 would be less reliable: most users cannot read the namespace of process 1, and a
    /// PID namespace has its own process 1.
    public static func isBootTimeShifted() -> Bool {
        var facts = stat()
        guard unsafe stat("/proc/self/ns/time", &facts) == 0 else {
            // A kernel before 5.6 has no time namespaces; without `/proc` they cannot be checked.
            return unsafe stat("/proc/self/ns/pid", &facts) != 0
        }
        return facts.st_ino != firstTimeNamespace
    }

    /// Whether this process runs in a container, whose host keeps the clock: in any PID namespace
    /// except the system's first one.
    public static func isKeptByHost() -> Bool {
        var facts = stat()
        return unsafe stat("/proc/self/ns/pid", &facts) == 0
            && facts.st_ino != firstProcessNamespace
    }

    // PROC_TIME_INIT_INO and PROC_PID_INIT_INO in the kernel's <linux/proc_ns.h>.
    private static let firstTimeNamespace: ino_t = 0xEFFF_FFFA
    private static let firstProcessNamespace: ino_t = 0xEFFF_FFFC

    /// The 16 bytes that identify the current boot; `nil` if `/proc` does not provide them.
    public static func bootID() -> [UInt8]? {
        let path = "/proc/sys/kernel/random/boot_id"
        return ifPossible(try FileDescriptor(reading: path).bytes(atMost: 64)).flatMap(uuid)
    }

    // 32 hexadecimal digits with dashes, and a line feed.
    private static func uuid(_ text: [UInt8]) -> [UInt8]? {
        let digits = text.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Milliseconds since 1970-01-01 00:00 UTC, without leap seconds.
    public static func unixMilliseconds() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec / 1_000_000)
    }

    /// The kernel's maximum error of the clock in milliseconds; `nil` if it is unknown.
    public static func maximumError() -> Int64? {
        let microseconds = linux_clock_error()
        return microseconds < 0 ? nil : Int64(microseconds) / 1_000
    }

    /// Whether the kernel reports the clock as synchronised; `nil` if this is unknown.
    public static func isSynchronized() -> Bool? {
        switch linux_clock_is_synchronized() {
        case 1: true
        case 0: false
        default: nil
        }
    }
}

/// A point in time for deadlines, on a clock that cannot be set and continues during system sleep.
///
/// `ContinuousClock` reads the same clock. It belongs to Swift's concurrency library, which depends
/// on libdispatch: a program that uses nothing else from either would load both at every start.
public struct Moment: Comparable, Sendable {
    /// The time since the kernel started.
    public let sinceStart: Duration

    /// The current time on the boot clock.
    public static var now: Moment {
        var now = timespec()
        // CLOCK_BOOTTIME has existed since Linux 2.6.39; the call cannot fail with a valid address.
        unsafe clock_gettime(CLOCK_BOOTTIME, &now)
        return Moment(sinceStart: .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec))
    }

    /// The time since the kernel started without system sleep.
    public static func awakeTime() -> Duration {
        var now = timespec()
        // Every Linux has CLOCK_MONOTONIC; the call cannot fail with a valid address.
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
    }

    /// The time until this moment; zero if it has passed.
    public var timeRemaining: Duration { max(sinceStart - Moment.now.sinceStart, .zero) }

    /// The moment that is `time` later.
    public static func + (moment: Moment, time: Duration) -> Moment {
        Moment(sinceStart: moment.sinceStart + time)
    }

    /// Whether `left` is earlier.
    public static func < (left: Moment, right: Moment) -> Bool {
        left.sinceStart < right.sinceStart
    }
}

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
        // `timegm` converts an invalid date, such as 31 April, to a date in the next month.
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
