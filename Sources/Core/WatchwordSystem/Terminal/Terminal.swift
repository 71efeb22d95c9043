internal import Glibc

/// Why reading from the terminal failed.
public enum TerminalError: Error, Hashable, Sendable {
    /// This process has no terminal.
    case none
    /// The user ended the input without an answer (Ctrl-D on an empty line).
    case ended
    /// The line was too long.
    case tooLong
    /// A termination signal arrived. It takes effect once it is no longer blocked, unless it is
    /// ignored.
    case interrupted
    /// A system call failed.
    case system(SystemCallFailure)
}

/// The controlling terminal of this process, whatever its standard streams are.
@safe public struct Terminal: ~Copyable {
    let descriptor: FileDescriptor

    /// Opens `/dev/tty`.
    public init() throws(TerminalError) {
        let opened = retrying { unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) }
        guard opened >= 0 else {
            throw [ENXIO, ENOENT, ENODEV, EACCES, EPERM].contains(errno)
                ? .none : .system(SystemCallFailure(call: "open", number: errno))
        }
        descriptor = FileDescriptor(owning: opened)
    }

    /// Shows `bytes`.
    public func write(_ bytes: Span<UInt8>) throws(TerminalError) {
        do { try descriptor.writeAll(bytes) } catch { throw .system(error) }
    }

    /// Shows `text`.
    public func write(_ text: String) throws(TerminalError) {
        try write(Array(text.utf8).span)
    }

    /// The number of columns and rows, or `nil` if the terminal does not report them.
    public func size() -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard unsafe ioctl(descriptor.number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func settings() throws(TerminalError) -> termios {
        var settings = termios()
        guard unsafe tcgetattr(descriptor.number, &settings) == 0 else {
            throw .system(SystemCallFailure(call: "tcgetattr", number: errno))
        }
        return settings
    }

    /// Applies `settings`; discards earlier input if `flushing`.
    func apply(_ settings: termios, flushing: Bool) throws(TerminalError) {
        var settings = settings
        let when = flushing ? TCSAFLUSH : TCSADRAIN
        guard retrying({ unsafe tcsetattr(descriptor.number, when, &settings) }) == 0 else {
            throw .system(SystemCallFailure(call: "tcsetattr", number: errno))
        }
    }
}
