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
        let opened = retrying { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard opened >= 0 else { throw SystemCallFailure(call: "open", number: errno) }
        self.number = opened
    }

    /// Opens the device at `path` for reading and writing, without waiting for it.
    init(openingDevice path: String) throws(SystemCallFailure) {
        let opened = retrying { unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard opened >= 0 else { throw SystemCallFailure(call: "open", number: errno) }
        self.number = opened
    }

    deinit { close(number) }

    /// Reads once into the free space; 0 means the end of the file, or that there was no free
    /// space.
    public func read(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) -> Int {
        var result = 0
        var failure: Int32 = 0
        unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
            let room = buffer.count - initialized
            guard room > 0, let start = buffer.baseAddress else { return }
            result = retrying { unsafe Glibc.read(number, start + initialized, room) }
            if result < 0 { failure = errno } else { initialized += result }
        }
        guard result >= 0 else { throw SystemCallFailure(call: "read", number: failure) }
        return result
    }

    /// Reads until the file ends or there is no free space.
    public func readToEnd(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) {
        while output.freeCapacity > 0, try read(into: &output) > 0 {}
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
            let result = unsafe rest.withUnsafeBytes { rest in
                retrying { unsafe pwrite(number, rest.baseAddress, rest.count, place) }
            }
            guard result >= 0 else { throw SystemCallFailure(call: "pwrite", number: errno) }
            written += result
        }
    }

    /// Writes every byte to a descriptor that is owned elsewhere, such as standard output.
    public static func writeAll(_ bytes: Span<UInt8>, to number: Int32) throws(SystemCallFailure) {
        var written = 0
        while written < bytes.count {
            let rest = bytes.extracting(written..<bytes.count)
            let result = unsafe rest.withUnsafeBytes { rest in
                retrying { unsafe Glibc.write(number, rest.baseAddress, rest.count) }
            }
            guard result >= 0 else { throw SystemCallFailure(call: "write", number: errno) }
            written += result
        }
    }
}

/// Repeats a system call until no signal interrupts it.
package func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
