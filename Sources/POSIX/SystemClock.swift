internal import CLinux
internal import Glibc

/// The system's clock, read at the top of a program and nowhere below.
public enum SystemClock {
    /// Seconds since 1970-01-01 00:00 UTC, leap seconds not counted.
    public static func unixTime() -> Int64 {
        var now = timespec()
        // CLOCK_REALTIME is there on every Linux; the call can't fail with a valid address.
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec)
    }

    /// Milliseconds within the current second, 0 to 999: a countdown wakes up on the second.
    public static func milliseconds() -> Int {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return now.tv_nsec / 1_000_000
    }

    /// Whole seconds since the kernel started, those that the machine slept included; nobody sets this clock.
    public static func bootTime() -> Int64 {
        var now = timespec()
        // CLOCK_BOOTTIME is there since Linux 2.6.39.
        unsafe clock_gettime(CLOCK_BOOTTIME, &now)
        return Int64(now.tv_sec)
    }

    /// Whether somebody may have shifted the boot clock.
    ///
    /// That is so in every time namespace but the system's first one: any user can make one, with any
    /// offset (time_namespaces(7)).
    ///
    /// The kernel gives the first namespace a fixed number. A comparison with the namespace of process 1
    /// would tell less: most users may not look there, and a process namespace has its own process 1.
    public static func isBootTimeShifted() -> Bool {
        var facts = stat()
        guard unsafe stat("/proc/self/ns/time", &facts) == 0 else {
            // A kernel before 5.6 knows no time namespaces; without `/proc` nobody knows.
            return unsafe stat("/proc/self/ns/pid", &facts) != 0
        }
        return facts.st_ino != firstTimeNamespace
    }

    // PROC_TIME_INIT_INO in the kernel's <linux/proc_ns.h>.
    private static let firstTimeNamespace: ino_t = 0xEFFF_FFFA

    /// The 16 bytes that tell one start of the kernel from every other; `nil` where `/proc` does not say.
    public static func bootID() -> [UInt8]? {
        do throws(SystemCallFailure) {
            let file = try FileDescriptor(reading: "/proc/sys/kernel/random/boot_id")
            let text = try [UInt8](capacity: 64) { output throws(SystemCallFailure) in
                try file.readToEnd(into: &output)
            }
            return uuid(text)
        } catch {
            return nil
        }
    }

    // 32 hexadecimal digits with dashes between, and a line feed.
    private static func uuid(_ text: [UInt8]) -> [UInt8]? {
        let digits = text.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Milliseconds since 1970-01-01 00:00 UTC, leap seconds not counted.
    public static func unixMilliseconds() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec / 1_000_000)
    }

    /// By how many milliseconds the kernel says that the clock may be wrong; `nil` when it does not say.
    public static func maximalError() -> Int64? {
        let microseconds = linux_clock_error()
        return microseconds < 0 ? nil : Int64(microseconds) / 1_000
    }

    /// Whether the kernel says that something keeps the clock right; `nil` when it does not say.
    public static func isSynchronized() -> Bool? {
        switch linux_clock_is_synchronized() {
        case 1: true
        case 0: false
        default: nil
        }
    }
}
