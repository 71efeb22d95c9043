import Cryptography
import JSONText
import POSIX

/// Prints data to standard output and messages to standard error.
enum ServerPrinter {
    /// Prints a line of data.
    static func line(_ text: String) throws(ServerFailure) {
        let bytes = Array((text + "\n").utf8)
        try write(bytes.span)
    }

    /// Prints `value` as one line.
    static func line(_ value: JSONValue) throws(ServerFailure) { try line(value.rendered()) }

    /// Prints a secret and a line feed.
    static func line(_ secret: SecretBytes) throws(ServerFailure) {
        let line = SecretBytes(capacity: secret.count + 1) { output in
            secret.withBytes { output.append(copying: $0) }
            output.append(UInt8(ascii: "\n"))
        }
        try line.withBytes { line throws(ServerFailure) in try write(line) }
    }

    private static func write(_ bytes: Span<UInt8>) throws(ServerFailure) {
        do {
            try StandardStream.output.write(bytes)
        } catch  where error.isBrokenPipe {
            ProcessEnd.ofBrokenPipe()
        } catch {
            throw .standardOutput(error)
        }
    }

    /// Prints an error message.
    static func complain(_ text: String) {
        let bytes = Array("watchword-server: \(text)\n".utf8)
        // If this fails, the error cannot be reported anywhere.
        do { try StandardStream.error.write(bytes.span) } catch _ {}
    }
}
