internal import WatchwordSystem

/// The clocks at one moment; the only time source for lock-outs.
public struct ClockReading: Hashable, Sendable {
    /// Unix seconds by the wall clock, which may have been set wrong; at least 0.
    public let wall: UInt64
    /// 16 bytes that identify one boot of the kernel; zeros if the boot is unknown or its clock may
    /// have been shifted.
    public let boot: [UInt8]
    /// Whole seconds since that boot, by a clock that cannot be set and that continues during
    /// system sleep.
    public let uptime: UInt64

    static let bootCount = 16
    private static let unknownBoot = [UInt8](repeating: 0, count: bootCount)

    /// Whether the uptime can be trusted.
    var isBootKnown: Bool { ClockReading.isKnown(boot) }

    static func isKnown(_ boot: [UInt8]) -> Bool { boot != unknownBoot }

    /// Builds a reading; negative times become 0, and an invalid boot ID counts as unknown.
    public init(wall: Int64, boot: [UInt8]?, uptime: Int64) {
        self.wall = UInt64(max(wall, 0))
        self.boot =
            boot.flatMap { $0.count == ClockReading.bootCount ? $0 : nil }
            ?? ClockReading.unknownBoot
        self.uptime = UInt64(max(uptime, 0))
    }

    /// Reads the system's clocks.
    ///
    /// The boot clock of a time namespace is ignored, because any user can create one and shift it.
    public static func now() -> ClockReading {
        ClockReading(
            wall: SystemClock.unixTime(),
            boot: SystemClock.isBootTimeShifted() ? nil : SystemClock.bootID(),
            uptime: SystemClock.bootTime())
    }
}
