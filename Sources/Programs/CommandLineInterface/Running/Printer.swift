import Synchronization
package import WatchwordCoding
package import WatchwordCryptography
import WatchwordSystem

/// Prints data to standard output and messages to standard error.
///
/// It owns both streams. It is a class because all callers share its buffer.
package final class Printer<Failure: ProgramFailure>: Sendable {
    private struct State {
        /// Lines waiting to be written to standard output.
        var pending: [UInt8] = []
        var hasProgress = false
        var hasOutput = false
    }

    /// Whether anything was written to standard output.
    var hasOutput: Bool { state.withLock { $0.hasOutput } }
    /// Whether notes and warnings are suppressed.
    package let isQuiet: Bool
    /// Whether standard output is a terminal.
    package let outputIsTerminal: Bool
    /// Whether standard error is a terminal.
    package let errorIsTerminal: Bool

    private let program: String
    private let state = Mutex(State())
    private static var pendingLimit: Int { 1 << 16 }

    /// Creates a printer whose messages begin with the name of `program`.
    package init(program: String, isQuiet: Bool) {
        self.program = program
        self.isQuiet = isQuiet
        outputIsTerminal = StandardStream.output.isTerminal
        errorIsTerminal = StandardStream.error.isTerminal
    }

    /// Prints a line of data, whose control characters must already be escaped.
    package func line(_ text: String) throws(Failure) {
        let isDue = state.withLock { state in
            state.pending += text.utf8
            state.pending.append(UInt8(ascii: "\n"))
            return outputIsTerminal || state.pending.count > Printer.pendingLimit
        }
        if isDue { try flush() }
    }

    /// Prints `value` as one line at once: it remains true despite a later error.
    package func line(_ value: JSONValue) throws(Failure) {
        try line(value.rendered())
    }

    /// Prints a secret and a line break, without a copy in the buffer.
    package func line(_ secret: SecretBytes) throws(Failure) {
        let line = secret.withBytes { bytes in
            SecretBytes(capacity: bytes.count + 1) { output in
                output.append(copying: bytes)
                output.append(UInt8(ascii: "\n"))
            }
        }
        try flush()
        try line.withBytes { bytes throws(Failure) in try write(bytes) }
    }

    package func bytes(_ bytes: Span<UInt8>) throws(Failure) {
        try flush()
        try write(bytes)
    }

    /// Prints the buffered data.
    package func flush() throws(Failure) {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        guard !pending.isEmpty else { return }
        try write(pending.span)
    }

    /// Prints `value` as the last line, in place of the buffered data.
    func endWith(_ value: JSONValue) throws(Failure) {
        state.withLock { $0.pending = [] }
        try line(value)
        try flush()
    }

    /// Prints the buffered data; if standard output is a file, flushes it to disk.
    package func deliver() throws(Failure) {
        try flush()
        try output { () throws(SystemCallFailure) in try StandardStream.output.synchronize() }
    }

    private func write(_ bytes: Span<UInt8>) throws(Failure) {
        state.withLock { $0.hasOutput = true }
        try output { () throws(SystemCallFailure) in try StandardStream.output.write(bytes) }
    }

    private func output(_ body: () throws(SystemCallFailure) -> Void) throws(Failure) {
        do { try body() } catch {
            if error.isBrokenPipe { ProcessEnd.ofBrokenPipe() }
            throw .standardOutput(error)
        }
    }

    /// Prints a note, unless `--quiet` is given.
    package func note(_ text: String) {
        if !isQuiet { say(text) }
    }

    /// Prints a warning, unless `--quiet` is given.
    package func warn(_ text: String) {
        if !isQuiet { alarm(text) }
    }

    /// Warns if standard output is a file that other users can read.
    ///
    /// Call this before printing text that may be secret.
    package func warnIfOthersCanRead() {
        guard let mode = StandardStream.output.modeReadableByOthers else { return }
        warn(
            "other users can read the file that standard output is written to "
                + "(mode 0\(String(mode, radix: 8))); run chmod 600 on it, and umask 077 before the next "
                + "time")
    }

    /// Prints an important warning, even with `--quiet`.
    package func alarm(_ text: String) {
        say("\(program): warning: \(text)")
    }

    /// Prints a request to the person, even with `--quiet`.
    package func prompt(_ text: String) { say(text) }

    package func complain(_ text: String) {
        say("\(program): \(text)")
    }

    /// Shows progress on a line that the next output replaces; on terminals only.
    package func progress(_ text: String) {
        guard errorIsTerminal, !isQuiet else { return }
        let room = max((StandardStream.error.columns ?? 80) - 1, 1)
        writeToError("\r\u{1B}[K" + text.prefix(room))
        state.withLock { $0.hasProgress = true }
    }

    /// Clears the progress line.
    package func endProgress() {
        let hadProgress = state.withLock { state in
            defer { state.hasProgress = false }
            return state.hasProgress
        }
        if hadProgress { writeToError("\r\u{1B}[K") }
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
