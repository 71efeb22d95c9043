internal import CLinux
internal import Glibc

/// One of the three standard streams.
public enum StandardStream: Int32, Sendable {
    case input = 0
    case output = 1
    case error = 2

    /// Whether the stream is a terminal.
    public var isTerminal: Bool { isatty(rawValue) == 1 }

    /// The permission bits of the file that the stream goes to, if other users can read it; `nil`
    /// for any other file, and for a terminal or a pipe.
    public var modeReadableByOthers: UInt32? {
        var facts = stat()
        guard unsafe fstat(rawValue, &facts) == 0, FileKind(facts) == .file else { return nil }
        let mode = facts.st_mode & 0o7777
        return mode & 0o044 == 0 ? nil : mode
    }

    /// The width of the terminal in columns; `nil` if the stream is not a terminal, or if the
    /// terminal does not report its width.
    public var columns: Int? {
        var size = winsize()
        guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// Writes every byte, with as many calls as needed.
    public func write(_ bytes: Span<UInt8>) throws(SystemCallFailure) {
        try FileDescriptor.writeAll(bytes, to: rawValue)
    }

    /// Waits until the output is on disk, if it goes to a file.
    public func synchronize() throws(SystemCallFailure) {
        guard retrying({ fsync(rawValue) }) < 0 else { return }
        // A terminal, a pipe or a socket cannot be synchronised.
        guard ![EINVAL, EROFS, ENOTSUP].contains(errno) else { return }
        throw SystemCallFailure(call: "fsync", number: errno)
    }

    /// Reads once into the free space; 0 means the end, or that there was no free space.
    public func read(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) -> Int {
        // Use a duplicate, because the stream must not be closed.
        let copy = try call("fcntl", retrying: true) { fcntl(rawValue, F_DUPFD_CLOEXEC, 3) }
        return try FileDescriptor(owning: copy).read(into: &output)
    }

    /// Replaces the stream by an open file.
    package func replace(by file: borrowing FileDescriptor) throws(SystemCallFailure) {
        try call("dup2", retrying: true) { dup2(file.number, rawValue) }
    }

    /// Replaces the stream by `/dev/null`, so that a reader sees its end.
    public func discard() throws(SystemCallFailure) {
        try replace(by: FileDescriptor(reading: "/dev/null"))
    }

    /// Opens each of the three streams that is closed, so that no other file gets its number.
    ///
    /// Reading from or writing to such a stream still fails, as with a closed stream.
    public static func fillGaps() throws(SystemCallFailure) {
        for number in 0...2 where fcntl(Int32(number), F_GETFD) < 0 {
            let opened = retrying { unsafe open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY) }
            guard opened == Int32(number) else {
                throw SystemCallFailure(call: "open", number: errno)
            }
        }
    }
}

/// Ways to end the process other than by returning.
public enum ProcessEnd {
    /// Ends the process silently by `SIGPIPE`, as is usual when the read end of a pipe is closed.
    public static func ofBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        // The parent process blocked the signal: exit with the status that a shell would show.
        atOnce(with: 128 + SIGPIPE)
    }

    /// Exits with `status` immediately, without exit handlers.
    ///
    /// OpenSSL's handler frees what another thread may still be using, and handlers make system
    /// calls that kill a confined process. Nothing of ours is buffered at this point.
    public static func atOnce(with status: Int32) -> Never { _exit(status) }
}

extension StandardStream {
    /// Reads up to and including the line ending, up to the end of the stream, or until there is no
    /// free space.
    ///
    /// It reads byte by byte, because the data after the line is for another reader, and may never
    /// end.
    public func readLine(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) {
        var byte: UInt8 = 0
        // The byte may be part of a passphrase.
        defer { byte = 0 }
        while output.freeCapacity > 0 {
            let count = try call("read", retrying: true) { unsafe Glibc.read(rawValue, &byte, 1) }
            guard count == 1 else { return }
            output.append(byte)
            if byte == UInt8(ascii: "\n") { return }
        }
    }
}

extension StandardStream {
    /// Discards everything that C code prints to its standard error stream from now on.
    ///
    /// It is for a helper process with libraries that print their errors and cannot be told not to.
    /// The process must have one thread.
    public static func discardLibraryMessages() { linux_discard_stderr() }
}
