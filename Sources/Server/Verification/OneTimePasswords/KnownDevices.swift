/// The browsers and devices in which codes of a credential were accepted, and which present a token
/// to prove it.
///
/// During the wait of strangers, a code is checked only if such a token comes with it. Each device
/// has its own small number of failures, so that a stolen token permits few guesses.
struct KnownDevices: Hashable, Sendable {
    /// The devices, the last used one last.
    private var devices: [Device] = []

    /// The maximum number of devices; a further one replaces the least recently used one.
    static let maximumCount = 8
    /// The number of failures that a device has at once; after that, it has one an hour.
    static let maximumFailures = 3
    /// The time after the last failure, in milliseconds, when a device has another one: an hour.
    private static let wait: Int64 = 3_600_000

    private struct Device: Hashable, Sendable {
        /// The keyed digest of the token.
        let digest: [UInt8]
        var failures = 0
        /// The time of the last failure.
        var failedAt = UnixTime(milliseconds: 0)
    }

    init() {}

    /// Whether the device is listed; its digest is keyed, so that the comparison reveals nothing.
    func contain(_ digest: [UInt8]) -> Bool { devices.contains { $0.digest == digest } }

    /// Whether the device may present a code during the wait of strangers.
    func trust(_ digest: [UInt8], at now: UnixTime) -> Bool {
        devices.contains { device in
            device.digest == digest
                && (device.failures < Self.maximumFailures
                    || now.milliseconds(since: device.failedAt) >= Self.wait)
        }
    }

    /// Counts a failure of a trusted device.
    mutating func fail(_ digest: [UInt8], at now: UnixTime) {
        guard let index = devices.firstIndex(where: { $0.digest == digest }) else { return }
        devices[index].failures = min(devices[index].failures + 1, Self.maximumFailures)
        devices[index].failedAt = now
    }

    /// Records the success of a listed device, and forgets its failures.
    mutating func succeed(_ digest: [UInt8]) {
        guard contain(digest) else { return }
        add(digest)
    }

    /// Lists the device as the last used one.
    mutating func add(_ digest: [UInt8]) {
        devices.removeAll { $0.digest == digest }
        devices = (devices + [Device(digest: digest)]).suffix(Self.maximumCount)
    }

    func write(into writer: inout ByteWriter) {
        writer.write(UInt8(devices.count))
        for device in devices {
            writer.write(device.digest)
            writer.write(UInt8(device.failures))
            writer.write(device.failedAt)
        }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        let count = Int(try reader.read(UInt8.self))
        guard count <= Self.maximumCount else { throw .damagedRow }
        for _ in 0..<count {
            let digest = try reader.readBytes()
            let failures = Int(try reader.read(UInt8.self))
            guard failures <= Self.maximumFailures else { throw .damagedRow }
            let failedAt = try reader.readTime()
            devices.append(Device(digest: digest, failures: failures, failedAt: failedAt))
        }
    }
}
