import Foundation

/// A free port outside the range of ephemeral ports.
///
/// A server that is killed and restarted must find its port free. An ephemeral port, which the
/// kernel picks for port 0, could by then be the local port of another connection.
package enum FreePort {
    package static func find() throws -> UInt16 {
        let range = try String(
            contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = range.split { $0.isWhitespace }.first.flatMap { UInt16($0) } ?? 32_768
        for _ in 0..<1_000 {
            let port = UInt16.random(in: 10_000..<max(first, 20_000))
            if isFree(port) { return port }
        }
        throw PostgreSQLServerError.failed("no free port below \(first)")
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
