internal import Foundation
internal import Synchronization

/// Free ports outside the range of ephemeral ports.
///
/// A server that is killed and restarted must find its port free. An ephemeral port, which the
/// kernel picks for port 0, could by then be the local port of another connection.
public enum FreePort {
    /// No free port was found below the ephemeral ports.
    public struct NoneFree: Error { let limit: UInt16 }

    // A server binds its port some time after it was found, so each port is found only once.
    private static let taken = Mutex<Set<UInt16>>([])

    /// Finds free ports that follow one another, and returns the first.
    public static func find(_ count: UInt16 = 1) throws -> UInt16 {
        let range = try String(
            contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let ephemeral = range.split { $0.isWhitespace }.first.flatMap { UInt16($0) } ?? 32_768
        let limit = max(ephemeral, 20_000)
        for _ in 0..<1_000 {
            let first = UInt16.random(in: 10_000..<limit - count)
            let ports = Set(first..<first + count)
            let isNew = taken.withLock { taken in
                defer { taken.formUnion(ports) }
                return taken.isDisjoint(with: ports)
            }
            if isNew, ports.allSatisfy({ isFree($0) }) { return first }
        }
        throw NoneFree(limit: limit)
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, type, 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        unsafe inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        return unsafe withUnsafeBytes(of: address) { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe bind(descriptor, start, socklen_t(bytes.count)) == 0
        }
    }
}
