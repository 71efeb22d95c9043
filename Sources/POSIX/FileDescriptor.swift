internal import Glibc

/// An open file that closes itself; interrupted calls are made again.
@safe public struct FileDescriptor: ~Copyable, Sendable {
    /// The number the kernel knows it by; it is lent, never closed by the borrower.
    public let number: Int32

    /// Takes over an open descriptor.
    public init(owning number: Int32) { self.number = number }

    /// Opens `path` for reading; a named pipe without a writer does not hang the caller.
    public init(reading path: String) throws(SystemCallFailure) {
        let opened = retrying { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard opened >= 0 else { throw SystemCallFailure(call: "open", number: errno) }
        self.number = opened
    }

    deinit { close(number) }

    /// Reads once into the room that is left; 0 means the end of the file, or that no room was left.
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

    /// Reads until the file ends or no room is left.
    public func readToEnd(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) {
        while output.freeCapacity > 0, try read(into: &output) > 0 {}
    }

    /// Writes every byte, however many calls it takes.
    public func writeAll(_ bytes: Span<UInt8>) throws(SystemCallFailure) {
        try FileDescriptor.writeAll(bytes, to: number)
    }

    /// Writes every byte in the place of those from the one at `offset` on.
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

    /// Writes every byte to a descriptor that somebody else owns, such as standard output.
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

/// Makes a system call again for as long as a signal interrupts it.
func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
