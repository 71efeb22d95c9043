internal import Lies

/// A reader that sends the correct greeting and then violates the pipe's protocol in the way that
/// the “picture” names.
@main struct Program {
    static func main() throws {
        say(frame([3] + Array("WWR".utf8) + [3, 0]))
        while let order = try nextOrder(hasty: { say(frame(echo("hasty"))) }) {
            if let lie = pipeLies[order] ?? lies[order] { lie() } else { say(frame(echo(order))) }
        }
    }

    private static let lies: [String: @Sendable () -> Void] = [
        "unknown verdict": { say(frame([99])) },
        "cut short": { say(frame([0] + list([]) + number(1))) },
        "left over": { say(frame(echo("x") + [0])) },
        "symbol beyond the end": { say(frame([0] + list([]) + list([string([1], count: 2)]))) },
        "symbol of 4 GiB": {
            say(frame([0] + list([]) + list([string([1], count: 0xFFFF_FFFF)])))
        },
        "symbols without verdict": { say(frame([1] + list([]) + list([string([1])]))) },
        "verdict without symbols": { say(frame([0] + list([]) + list([]))) },
        "more symbols than allowed": {
            say(frame([0] + list([]) + list(Array(repeating: string([]), count: 1_001))))
        },
        "escape in a word": { say(frame([1] + list([[1, 0x1B]]))) },
        "word without letters": { say(frame([1] + list([[0]]))) },
        "words too many": { say(frame([1] + list(Array(repeating: [1, 0x77], count: 65)))) },
        "format unsaid": { say(frame([3])) },
        "frame over the limit": { say([1, 0, 4, 0]) },
        "answer twice": { say(frame(echo("first")) + frame(echo("second"))) },
    ]

    private static func echo(_ content: String) -> [UInt8] {
        [0] + list([]) + list([text(content)])
    }
}
