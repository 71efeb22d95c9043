internal import Lies
internal import WatchwordSystem

/// A reader that sends the correct greeting and then violates the pipe's protocol in the way that
/// the “picture” names.
@main struct Program {
    static func main() throws {
        say(frame([3] + Array("WWR".utf8) + [2, 0]))
        while let order = try nextOrder(hasty: { say(frame(echo("hasty"))) }) {
            if let lie = pipeLies[order] ?? lies[order] { lie() } else { say(frame(echo(order))) }
        }
    }

    private static let lies: [String: @Sendable () -> Void] = [
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
        "frame over the limit": { say([1, 0, 4, 0]) },
        "answer twice": { say(frame(echo("first")) + frame(echo("second"))) },
    ]

    private static func echo(_ text: String) -> [UInt8] {
        [0, 0, 1, 0] + UInt32(text.utf8.count).littleEndianBytes + Array(text.utf8)
    }
}
