internal import Foundation

/// A TCP connection to this machine on which a test can send anything, well formed or not.
public final class RawConnection: Sendable {
    /// Why connecting, sending or receiving failed.
    public enum Failure: Error {
        case notConnected(Int32)
        case notSent(Int32)
        /// No bytes arrived for a minute.
        case silence
        case notHTTP
    }

    /// An HTTP response as it was received.
    public struct Answer: Sendable {
        /// The status code, such as 200.
        public let status: Int
        /// The header fields, with names in lower case.
        public let headers: [String: String]
        /// The bytes after the header fields.
        public let body: [UInt8]
        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let descriptor: Int32

    /// Connects to `port` on 127.0.0.1 or ::1.
    ///
    /// - Parameter source: the loopback address to connect from, such as `127.0.0.2`.
    public init(port: UInt16, version6: Bool = false, from source: String? = nil) throws {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(version6 ? AF_INET6 : AF_INET, type, 0)
        // With a timeout, a mistake makes the test fail instead of hanging.
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
        if let source {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            unsafe inet_pton(AF_INET, source, &address.sin_addr)
            guard unsafe LoopbackSocket.apply(bind, descriptor, address) == 0 else {
                throw Failure.notConnected(errno)
            }
        }
        let result: Int32
        if version6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            result = unsafe LoopbackSocket.apply(connect, descriptor, address)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            unsafe inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
            result = unsafe LoopbackSocket.apply(connect, descriptor, address)
        }
        guard result == 0 else { throw Failure.notConnected(errno) }
    }

    deinit { close(descriptor) }

    /// Sends every byte, in as many calls as needed.
    public func send(_ bytes: [UInt8]) async throws {
        try await onOwnThread { [self] in try sendNow(bytes) }
    }

    private func sendNow(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { rest in
                unsafe Foundation.send(
                    descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure.notSent(errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends the text's bytes.
    public func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Shuts down the sending direction.
    public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns the next bytes; empty if the other side has closed or reset the connection.
    public func receive() async throws -> [UInt8] {
        try await onOwnThread { [self] in try receiveNow() }
    }

    private func receiveNow() throws -> [UInt8] {
        let limit = 1 << 16
        var room = [UInt8](repeating: 0, count: limit)
        let count = unsafe recv(descriptor, &room, limit, 0)
        if count < 0, errno == EAGAIN { throw Failure.silence }
        return Array(room.prefix(max(count, 0)))
    }

    /// Whether the connection is open, and nothing has arrived.
    public var isSilent: Bool {
        var byte: UInt8 = 0
        let flags = Int32(MSG_PEEK | MSG_DONTWAIT)
        return unsafe recv(descriptor, &byte, 1, flags) < 0 && errno == EAGAIN
    }

    /// Receives everything up to the end of the connection.
    public func receiveToEnd() async throws -> [UInt8] {
        var all: [UInt8] = []
        while case let part = try await receive(), !part.isEmpty { all += part }
        return all
    }

    /// Receives one response; `nil` if the connection ends before its first byte.
    ///
    /// Use it for one response at a time: bytes that follow the response are lost.
    public func answer() async throws -> Answer? {
        var bytes: [UInt8] = []
        while true {
            if let answer = RawConnection.answer(in: bytes) { return answer }
            let part = try await receive()
            if part.isEmpty {
                guard bytes.isEmpty else { throw Failure.notHTTP }
                return nil
            }
            bytes += part
        }
    }

    /// The response at the start of `bytes`, if it is complete.
    ///
    /// - Parameter hasBody: `false` for the response to a `HEAD` request, regardless of its length
    ///   field.
    public static func answer(in bytes: [UInt8], hasBody: Bool = true) -> Answer? {
        guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            .components(separatedBy: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers[line[..<colon].lowercased()] = value
        }
        let rest = bytes[end.upperBound...]
        // A response without a length, such as a 204 or a 100, has no body.
        let length = hasBody ? headers["content-length"].flatMap { Int($0) } ?? 0 : 0
        guard rest.count >= length else { return nil }
        return Answer(status: status, headers: headers, body: Array(rest.prefix(length)))
    }
}

/// Runs a blocking call on its own thread.
///
/// Swift's cooperative pool has only one thread per core, and the server under test may need them.
public func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result)
    async throws -> Result
{
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}
