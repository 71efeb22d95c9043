import Cryptography
import JSONText
import POSIX
import Synchronization
import Verification
import VerificationService

/// JSON lines on standard error; nobody who answers a request waits for whoever reads them.
final class ServerLog: Sendable {
    /// What waits to be written.
    private final class Lines: Sendable {
        private let lines = Mutex<[SecretBytes]>([])

        /// Says whether it is the first one that waits.
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

    /// So many lines wait at most; when nobody reads them, newer ones are lost.
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
                    // Standard error is where failures are told; when it fails, there is nobody to tell.
                    do { try StandardStream.error.write(lines) } catch _ {}
                }
            }
        }
    }

    /// Takes a line with its end.
    func write(_ line: SecretBytes) { if lines.append(line) { wakenings.yield() } }

    /// Says what happens to the server itself; no word of it comes from a stranger.
    func say(_ event: String, _ facts: [(String, String)]) {
        let facts = facts.map { ($0.0, JSONValue.text($0.1)) }
        write(
            JSONValue.object(
                [("time", .text(Backing.now().text)), ("event", .text(event))] + facts
            ).renderedLine())
    }

    /// Waits until what was written is out.
    func close() async {
        wakenings.finish()
        await writer.value
    }

    /// All of them behind one another: under load, many go out by one call.
    private static func join(_ lines: [SecretBytes]) -> SecretBytes {
        SecretBytes(capacity: lines.reduce(0) { $0 + $1.count }) { output in
            for line in lines { line.withBytes { output.append(copying: $0) } }
        }
    }
}
