internal import POSIX

/// What the clocks say at one moment; lock-out is decided from it, and from nothing else.
public struct ClockReading: Hashable, Sendable {
    /// Unix seconds by the wall clock, which somebody may set; not before 1970.
    public let wall: UInt64
    /// 16 bytes that tell one start of the kernel from every other; zeros when it is not known, or when
    /// somebody may have shifted the boot clock.
    public let boot: [UInt8]
    /// Whole seconds since that start, by a clock that nobody sets and that goes on during sleep.
    public let uptime: UInt64

    static let bootCount = 16
    private static let unknownBoot = [UInt8](repeating: 0, count: bootCount)

    /// Whether the uptime can be trusted.
    var knowsBoot: Bool { ClockReading.isKnown(boot) }

    static func isKnown(_ boot: [UInt8]) -> Bool { boot != unknownBoot }

    /// States what the clocks say.
    public init(wall: Int64, boot: [UInt8]?, uptime: Int64) {
        self.wall = UInt64(max(wall, 0))
        self.boot =
            boot.flatMap { $0.count == ClockReading.bootCount ? $0 : nil }
            ?? ClockReading.unknownBoot
        self.uptime = UInt64(max(uptime, 0))
    }

    /// Reads the system's clocks.
    ///
    /// The boot clock of a time namespace, which any user can make, tells nothing.
    public static func now() -> ClockReading {
        ClockReading(
            wall: SystemClock.unixTime(),
            boot: SystemClock.isBootTimeShifted() ? nil : SystemClock.bootID(),
            uptime: SystemClock.bootTime())
    }
}
