import Cryptography
import JSONText
import POSIX

/// Prints data on standard output and messages on standard error.
///
/// It owns both streams. It is a class because all callers share its buffer.
final class Printer {
    /// Whether notes and warnings are suppressed.
    let isQuiet: Bool
    /// Whether standard output is a terminal.
    let outputIsTerminal: Bool
    /// Whether standard error is a terminal.
    let errorIsTerminal: Bool

    private var pending: [UInt8] = []
    private var hasProgress = false
    private static let pendingLimit = 1 << 16

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
        outputIsTerminal = StandardStream.output.isTerminal
        errorIsTerminal = StandardStream.error.isTerminal
    }

    /// Prints a line of data, whose control characters must already be escaped.
    func line(_ text: String) throws(CommandFailure) {
        pending += text.utf8
        pending.append(UInt8(ascii: "\n"))
        if outputIsTerminal || pending.count > Printer.pendingLimit { try flush() }
    }

    /// Prints `value` as one line.
    func line(_ value: JSONValue) throws(CommandFailure) {
        try line(value.rendered())
    }

    /// Prints a secret and a line break, without a copy in the buffer.
    func line(_ secret: SecretBytes) throws(CommandFailure) {
        let line = secret.withBytes { bytes in
            SecretBytes(capacity: bytes.count + 1) { output in
                output.append(copying: bytes)
                output.append(UInt8(ascii: "\n"))
            }
        }
        try flush()
        try line.withBytes { bytes throws(CommandFailure) in try Printer.write(bytes) }
    }

    /// Prints raw bytes.
    func bytes(_ bytes: Span<UInt8>) throws(CommandFailure) {
        try flush()
        try Printer.write(bytes)
    }

    /// Prints the buffered data; call this at the end.
    func flush() throws(CommandFailure) {
        guard !pending.isEmpty else { return }
        defer { pending.removeAll(keepingCapacity: true) }
        try Printer.write(pending.span)
    }

    /// Prints the buffered data; if standard output is a file, flushes it to the disk.
    func deliver() throws(CommandFailure) {
        try flush()
        do { try StandardStream.output.synchronize() } catch { throw .standardOutput(error) }
    }

    private static func write(_ bytes: Span<UInt8>) throws(CommandFailure) {
        do {
            try StandardStream.output.write(bytes)
        } catch  where error.isBrokenPipe {
            ProcessEnd.ofBrokenPipe()
        } catch {
            throw .standardOutput(error)
        }
    }

    /// Prints a note, unless `--quiet` is given.
    func note(_ text: String) {
        if !isQuiet { say(text) }
    }

    /// Prints a warning, unless `--quiet` is given.
    func warn(_ text: String) {
        if !isQuiet { say("watchword: warning: " + text) }
    }

    /// Prints an important warning, even with `--quiet`.
    func alarm(_ text: String) {
        say("watchword: warning: " + text)
    }

    /// Prints an error.
    func complain(_ text: String) {
        say("watchword: " + text)
    }

    /// Shows progress on a line that the next output replaces; on terminals only.
    func progress(_ text: String) {
        guard errorIsTerminal, !isQuiet else { return }
        let room = max((StandardStream.error.columns ?? 80) - 1, 1)
        writeToError("\r\u{1B}[K" + text.prefix(room))
        hasProgress = true
    }

    /// Clears the progress line.
    func endProgress() {
        guard hasProgress else { return }
        writeToError("\r\u{1B}[K")
        hasProgress = false
    }

    private func say(_ text: String) {
        endProgress()
        writeToError(text + "\n")
    }

    private func writeToError(_ text: String) {
        // If standard error fails, there is nowhere to report it.
        do { try StandardStream.error.write(Array(text.utf8).span) } catch _ {}
    }
}
