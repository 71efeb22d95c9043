import Cryptography
import JSONText
import POSIX
import VerificationService
import Verification

/// JSON lines on standard error; nobody who answers a request waits for whoever reads them.
final class ServerLog: Sendable {
    private let lines: AsyncStream<SecretBytes>.Continuation
    private let writer: Task<Void, Never>

    /// So many lines wait at most; when nobody reads them, newer ones are lost.
    private static let capacity = 10_000

    init() {
        let (stream, lines) = AsyncStream.makeStream(
            of: SecretBytes.self, bufferingPolicy: .bufferingOldest(ServerLog.capacity))
        self.lines = lines
        writer = Task.detached {
            for await line in stream {
                line.withBytes { line in
                    // Standard error is where failures are told; when it fails, there is nobody to tell.
                    do { try StandardStream.error.write(line) } catch _ {}
                }
            }
        }
    }

    /// Takes a line with its end.
    func write(_ line: SecretBytes) { lines.yield(line) }

    /// Says what happens to the server itself; no word of it comes from a stranger.
    func say(_ event: String, _ facts: [(String, String)]) {
        let line = JSONValue.object(
            [("time", .text(Backing.now().text)), ("event", .text(event))]
                + facts.map { ($0.0, .text($0.1)) }
        ).rendered()
        write(
            SecretBytes(capacity: line.count + 1) { output in
                line.withBytes { for index in $0.indices { output.append($0[index]) } }
                output.append(UInt8(ascii: "\n"))
            })
    }

    /// Waits until what was written is out.
    func close() async {
        lines.finish()
        await writer.value
    }
}
