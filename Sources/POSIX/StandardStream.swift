internal import Glibc

/// One of the three streams that every program is started with.
public enum StandardStream: Int32, Sendable {
    case input = 0
    case output = 1
    case error = 2

    /// Whether a person sees it, or types it.
    public var isTerminal: Bool { isatty(rawValue) == 1 }

    /// How many columns wide its terminal is; `nil` when it is none or does not say.
    public var columns: Int? {
        var size = winsize()
        guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// Writes every byte.
    public func write(_ bytes: Span<UInt8>) throws(SystemCallFailure) {
        try FileDescriptor.writeAll(bytes, to: rawValue)
    }

    /// Waits until what was written is on the disk, where it goes to a file.
    public func synchronize() throws(SystemCallFailure) {
        guard retrying({ fsync(rawValue) }) < 0 else { return }
        // A terminal, a pipe or a socket has no disk.
        guard ![EINVAL, EROFS, ENOTSUP].contains(errno) else { return }
        throw SystemCallFailure(call: "fsync", number: errno)
    }

    /// Reads once into the room that is left; 0 means the end, or that no room was left.
    public func read(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) -> Int {
        // A copy of its own, because the stream is not ours to close.
        let copy = retrying { fcntl(rawValue, F_DUPFD_CLOEXEC, 3) }
        guard copy >= 0 else { throw SystemCallFailure(call: "fcntl", number: errno) }
        return try FileDescriptor(owning: copy).read(into: &output)
    }

    /// Opens whatever of the three is closed, so that no file we open takes its place.
    ///
    /// Reading and writing it still fails, as it does with a closed stream.
    public static func fillGaps() throws(SystemCallFailure) {
        for number in 0...2 where fcntl(Int32(number), F_GETFD) < 0 {
            let opened = retrying { unsafe open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY) }
            guard opened == Int32(number) else {
                throw SystemCallFailure(call: "open", number: errno)
            }
        }
    }
}

/// How the process ends other than by returning.
public enum ProcessEnd {
    /// Ends as a program does whose reader went away: by `SIGPIPE`, without a word.
    public static func ofBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        // Held back by who started us: the status that a shell would have shown.
        exit(with: 128 + SIGPIPE)
    }

    /// Ends with `status`.
    public static func exit(with status: Int32) -> Never { Glibc.exit(status) }
}
