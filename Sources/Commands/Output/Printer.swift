import Cryptography
import JSONText
import POSIX

/// What the program prints: data on standard output, words on standard error.
///
/// The one owner of both streams; a class, because everything that prints shares its buffer.
final class Printer {
    /// Whether notes and warnings are left out.
    let isQuiet: Bool
    /// Whether a person looks at standard output.
    let outputIsTerminal: Bool
    /// Whether a person looks at standard error.
    let errorIsTerminal: Bool

    private var pending: [UInt8] = []
    private var hasProgress = false
    private static let pendingLimit = 1 << 16

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
        outputIsTerminal = StandardStream.output.isTerminal
        errorIsTerminal = StandardStream.error.isTerminal
    }

    /// Prints a line of data; what would steer a terminal must be spelled out already.
    func line(_ text: String) throws(CommandFailure) {
        pending += text.utf8
        pending.append(UInt8(ascii: "\n"))
        if outputIsTerminal || pending.count > Printer.pendingLimit { try flush() }
    }

    /// Prints `value` as one line.
    func line(_ value: JSONValue) throws(CommandFailure) {
        try line(value.rendered())
    }

    /// Prints a secret and a line end, without a copy in the buffer.
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

    /// Prints bytes as they are.
    func bytes(_ bytes: Span<UInt8>) throws(CommandFailure) {
        try flush()
        try Printer.write(bytes)
    }

    /// Prints what waits; to be called at the end.
    func flush() throws(CommandFailure) {
        guard !pending.isEmpty else { return }
        defer { pending.removeAll(keepingCapacity: true) }
        try Printer.write(pending.span)
    }

    /// Prints what waits, and makes sure that it has arrived: where it goes to a file, on the disk.
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

    /// Tells the person something, unless `--quiet`.
    func note(_ text: String) {
        if !isQuiet { say(text) }
    }

    /// Tells the person that something is not as it should be, unless `--quiet`.
    func warn(_ text: String) {
        if !isQuiet { say("watchword: warning: " + text) }
    }

    /// Tells the person what is dangerous not to know, also with `--quiet`.
    func alarm(_ text: String) {
        say("watchword: warning: " + text)
    }

    /// Tells the person why it did not work.
    func complain(_ text: String) {
        say("watchword: " + text)
    }

    /// Shows how far the work is, on one line that the next one replaces; on terminals only.
    func progress(_ text: String) {
        guard errorIsTerminal, !isQuiet else { return }
        let room = max((StandardStream.error.columns ?? 80) - 1, 1)
        writeToError("\r\u{1B}[K" + text.prefix(room))
        hasProgress = true
    }

    /// Takes the progress line away.
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
        // Standard error is where failures are told; when it fails, there is nobody to tell.
        do { try StandardStream.error.write(Array(text.utf8).span) } catch _ {}
    }
}
