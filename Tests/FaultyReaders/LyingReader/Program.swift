internal import POSIX

/// A reader that sends the correct greeting and then violates the pipe's protocol in the way that
/// the “picture” names.
@main struct Program {
    static func main() throws {
        say(frame([0x57, 0x57, 0x52, 1, 0]))
        while let order = try nextOrder() {
            if let lie = lies[order] {
                lie()
            } else {
                say(frame(echo(order)))
            }
        }
    }

    private static let lies: [String: @Sendable () -> Void] = [
        "nothing in a frame": { say(frame([])) },
        "unknown verdict": { say(frame([99, 0, 0, 0])) },
        "cut short": { say(frame([0, 0, 1])) },
        "left over": { say(frame(echo("x") + [0])) },
        "symbol beyond the end": { say(frame([0, 0, 1, 0, 2, 0, 0, 0, 1])) },
        "symbol of 4 GiB": { say(frame([0, 0, 1, 0, 255, 255, 255, 255, 1])) },
        "symbols without verdict": { say(frame([1, 0, 1, 0, 1, 0, 0, 0, 1])) },
        "verdict without symbols": { say(frame([0, 0, 0, 0])) },
        "more symbols than allowed": { say(frame([0, 0, 255, 255])) },
        "escape in a word": { say(frame([1, 1, 1, 0x1B, 0, 0])) },
        "word without letters": { say(frame([1, 1, 0, 0, 0])) },
        "words too many": { say(frame([1, 65] + Array(repeating: 1, count: 200))) },
        "format unsaid": { say(frame([3, 0, 0, 0])) },
        "frame of 4 GiB": { say([255, 255, 255, 255]) },
        "frame over the limit": { say([1, 0, 4, 0]) },
        "half a frame": {
            say([9, 0, 0, 0, 1])
            while true {}
        },
        "half a frame and gone": {
            say([9, 0, 0, 0, 1])
            ProcessEnd.atOnce(with: 0)
        },
        "endless": { while true { say([4, 0, 0, 0, 99, 0, 0, 0]) } },
        "answer twice": { say(frame(echo("first")) + frame(echo("second"))) },
        "close the pipe": {
            // Releasing the descriptor closes it.
            _ = FileDescriptor(owning: 1)
            while true {}
        },
    ]

    private static func frame(_ body: [UInt8]) -> [UInt8] { number(body.count) + body }

    private static func echo(_ text: String) -> [UInt8] {
        [0, 0, 1, 0] + number(text.utf8.count) + Array(text.utf8)
    }

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func say(_ bytes: [UInt8]) {
        do { try StandardStream.output.write(bytes.span) } catch { ProcessEnd.atOnce(with: 1) }
    }

    /// Reads a picture; one that begins with “hasty” is answered before its end.
    private static func nextOrder() throws -> String? {
        var picture: [UInt8] = []
        while true {
            var count: [UInt8] = []
            guard try FileDescriptor.read(exactly: 4, from: 0, appendingTo: &count) else {
                return nil
            }
            let size = count.reversed().reduce(0) { $0 << 8 | Int($1) }
            if size == 0 { break }
            guard try FileDescriptor.read(exactly: size, from: 0, appendingTo: &picture) else {
                return nil
            }
            if picture.starts(with: "hasty".utf8) {
                say(frame(echo("hasty")))
                while true {}
            }
        }
        return String(decoding: picture, as: UTF8.self)
    }
}
