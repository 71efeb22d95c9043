import Synchronization
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// Writes JSON lines to standard error.
///
/// Requests never wait for the reader of the log.
final class ServerLog: Sendable {
    /// The lines waiting to be written.
    private final class Lines: Sendable {
        private let lines = Mutex<[SecretBytes]>([])

        /// Returns whether the queue was empty.
        func append(_ line: SecretBytes) -> Bool {
            lines.withLock { lines in
                guard lines.count < ServerLog.capacity else { return false }
                lines.append(line)
                return lines.count == 1
            }
        }

        func take() -> [SecretBytes] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    private let lines: Lines
    private let wakenings: AsyncStream<Void>.Continuation
    private let writer: Task<Void, Never>

    /// The maximum number of waiting lines; if nobody reads them, later ones are lost.
    private static let capacity = 10_000

    init() {
        let (stream, wakenings) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wakenings = wakenings
        let lines = Lines()
        self.lines = lines
        writer = Task.detached {
            for await _ in stream {
                ServerLog.join(lines.take()).withBytes { lines in
                    // If standard error fails, the failure cannot be reported anywhere.
                    do { try StandardStream.error.write(lines) } catch _ {}
                }
            }
        }
    }

    /// Queues a line, which includes its line feed.
    func write(_ line: SecretBytes) { if lines.append(line) { wakenings.yield() } }

    /// Logs an event of the server itself; it contains no text from a request.
    func say(_ event: String, _ facts: [(String, String)]) {
        let facts = facts.map { ($0.0, JSONValue.text($0.1)) }
        write(
            JSONValue.object(
                [("time", .text(ServerContext.now().text)), ("event", .text(event))] + facts
            ).renderedLine())
    }

    /// Waits until all queued lines have been written.
    func close() async {
        wakenings.finish()
        await writer.value
    }

    /// Joins the lines, so that under load one system call writes many.
    private static func join(_ lines: [SecretBytes]) -> SecretBytes {
        SecretBytes(capacity: lines.reduce(0) { $0 + $1.count }) { output in
            for line in lines { line.withBytes { output.append(copying: $0) } }
        }
    }
}
