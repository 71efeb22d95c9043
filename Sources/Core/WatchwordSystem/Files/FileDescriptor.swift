internal import Glibc

/// An open file that is closed automatically; interrupted calls are retried.
@safe public struct FileDescriptor: ~Copyable, Sendable {
    /// The descriptor's number.
    ///
    /// The caller must not close it.
    public let number: Int32

    /// Takes ownership of an open descriptor.
    public init(owning number: Int32) { self.number = number }

    /// Opens `path` for reading; does not block on a named pipe without a writer.
    public init(reading path: String) throws(SystemCallFailure) {
        number = try call("open", retrying: true) {
            unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        }
    }

    /// Opens the device at `path` for reading and writing, without waiting for the device.
    init(openingDevice path: String) throws(SystemCallFailure) {
        number = try call("open", retrying: true) {
            unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        }
    }

    deinit { close(number) }

    /// Reads once into the free space; 0 means the end of the file, or that there was no free
    /// space.
    public func read(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) -> Int {
        try unsafe output.withUnsafeMutableBufferPointer {
            buffer, initialized throws(SystemCallFailure) in
            let (position, room) = (initialized, buffer.count - initialized)
            guard room > 0, let start = buffer.baseAddress else { return 0 }
            let count = try call("read", retrying: true) {
                unsafe Glibc.read(number, start + position, room)
            }
            initialized += count
            return count
        }
    }

    /// Reads until the file ends or there is no free space.
    public func readToEnd(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) {
        while output.freeCapacity > 0, try read(into: &output) > 0 {}
    }

    /// Reads until the file ends, at most `limit` bytes.
    package func bytes(atMost limit: Int) throws(SystemCallFailure) -> [UInt8] {
        try [UInt8](capacity: limit) { output throws(SystemCallFailure) in
            try readToEnd(into: &output)
        }
    }

    /// Writes every byte, with as many calls as needed.
    public func writeAll(_ bytes: Span<UInt8>) throws(SystemCallFailure) {
        try FileDescriptor.writeAll(bytes, to: number)
    }

    /// Writes every byte at `offset`, over the existing content.
    public func writeAll(_ bytes: Span<UInt8>, at offset: Int) throws(SystemCallFailure) {
        var written = 0
        while written < bytes.count {
            let rest = bytes.extracting(written..<bytes.count)
            let place = off_t(offset + written)
            written += try unsafe rest.withUnsafeBytes { rest throws(SystemCallFailure) in
                try call("pwrite", retrying: true) {
                    unsafe pwrite(number, rest.baseAddress, rest.count, place)
                }
            }
        }
    }

    /// Writes every byte to a descriptor that is owned elsewhere, such as standard output.
    public static func writeAll(_ bytes: Span<UInt8>, to number: Int32) throws(SystemCallFailure) {
        var written = 0
        while written < bytes.count {
            let rest = bytes.extracting(written..<bytes.count)
            written += try unsafe rest.withUnsafeBytes { rest throws(SystemCallFailure) in
                try call("write", retrying: true) {
                    unsafe Glibc.write(number, rest.baseAddress, rest.count)
                }
            }
        }
    }
}

extension FileDescriptor {
    /// Reads `count` bytes from a descriptor that is owned elsewhere and appends them to `bytes`.
    ///
    /// - Returns: whether all of them arrived; if not, the other side closed the connection before
    ///   or during the message.
    public static func read(
        exactly count: Int, from number: Int32, appendingTo bytes: inout [UInt8]
    ) throws(SystemCallFailure) -> Bool {
        var part = [UInt8](repeating: 0, count: min(count, 1 << 16))
        var missing = count
        while missing > 0 {
            let count = try call("read", retrying: true) {
                unsafe Glibc.read(number, &part, min(missing, part.count))
            }
            guard count > 0 else { return false }
            bytes.append(contentsOf: part.prefix(count))
            missing -= count
        }
        return true
    }

    /// Fills the free space from a descriptor that is owned elsewhere.
    ///
    /// - Returns: whether it is full; if not, the other side closed the connection first.
    public static func fill(
        _ output: inout OutputSpan<UInt8>, from number: Int32
    ) throws(SystemCallFailure) -> Bool {
        try unsafe output.withUnsafeMutableBufferPointer {
            buffer, initialized throws(SystemCallFailure) in
            while let start = buffer.baseAddress, initialized < buffer.count {
                let (position, room) = (initialized, buffer.count - initialized)
                let count = try call("read", retrying: true) {
                    unsafe Glibc.read(number, start + position, room)
                }
                guard count > 0 else { return }
                initialized += count
            }
        }
        return output.freeCapacity == 0
    }
}

extension FileDescriptor {
    /// Reads the length that precedes a frame from a descriptor that is owned elsewhere.
    ///
    /// - Returns: `nil` if the other side closed the connection first.
    public static func readCount(from number: Int32) throws(SystemCallFailure) -> Int? {
        var bytes: [UInt8] = []
        guard try read(exactly: 4, from: number, appendingTo: &bytes) else { return nil }
        return Int(UInt32(littleEndian: bytes.span))
    }
}

extension UInt32 {
    /// The four bytes, lowest first.
    public var littleEndianBytes: [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }

    init(littleEndian bytes: Span<UInt8>) {
        precondition(bytes.count == 4, "a count is four bytes long")
        self = bytes.indices.reversed().reduce(0) { $0 << 8 | UInt32(bytes[$1]) }
    }
}

extension FileDescriptor {
    /// The result of a non-blocking read or write.
    public enum Progress: Hashable, Sendable {
        /// This many bytes were transferred.
        case moved(Int)
        /// The call would block.
        case wouldWait
        /// The other side closed the connection.
        case ended
    }

    /// Reads once into the free space; does not wait if the descriptor is non-blocking.
    public func readAvailable(
        into output: inout OutputSpan<UInt8>
    ) throws(SystemCallFailure) -> Progress {
        let count = try SystemCallFailure.nilIf({ $0.number == EAGAIN }, read(into: &output))
        guard let count else { return .wouldWait }
        return count == 0 ? .ended : .moved(count)
    }

    /// Writes as much as the pipe accepts in one call; a closed read end is reported as
    /// ``Progress/ended``, not by `SIGPIPE`.
    public func writeAvailable(_ bytes: Span<UInt8>) throws(SystemCallFailure) -> Progress {
        let (result, failure) = withoutPipeSignal {
            unsafe bytes.withUnsafeBytes { bytes in
                let result = retrying { unsafe write(number, bytes.baseAddress, bytes.count) }
                return (result, errno)
            }
        }
        guard result < 0 else { return .moved(result) }
        switch failure {
        case EAGAIN: return .wouldWait
        case EPIPE: return .ended
        default: throw SystemCallFailure(call: "write", number: failure)
        }
    }
}

/// Blocks `SIGPIPE` in this thread during `body`, and discards the signal that `body` causes.
///
/// How the program handles `SIGPIPE` for its own standard output is not affected.
private func withoutPipeSignal<Result>(_ body: () -> Result) -> Result {
    var pipeSignal = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    unsafe sigemptyset(&pipeSignal)
    unsafe sigaddset(&pipeSignal, SIGPIPE)
    unsafe sigpending(&pending)
    // Do not discard a signal that was already pending.
    guard unsafe sigismember(&pending, SIGPIPE) == 0 else { return body() }
    unsafe pthread_sigmask(SIG_BLOCK, &pipeSignal, &before)
    let result = body()
    var now = timespec(tv_sec: 0, tv_nsec: 0)
    while unsafe sigtimedwait(&pipeSignal, nil, &now) == -1 && errno == EINTR {}
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    return result
}
