internal import POSIX

/// A reader that sends the correct greeting and then violates the pipe's protocol in the way that
/// the “picture” names.
@main struct Program {
    static func main() throws {
        say(frame([0x57, 0x57, 0x52, 2, 0]))
        while let order = try nextOrder() {
            if let lie = lies[order] {
                lie()
            } else if let answer = exportLies[order] {
                say(frame(answer))
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

    /// Answers about an export, each with one wrong value.
    private static let exportLies: [String: [UInt8]] = [
        "sound export": export([entry()]),
        "unknown format": export([entry()], format: 200),
        "more entries than sent": export([entry()], count: 2),
        "fewer entries than sent": export([entry(), entry()], count: 1),
        "4 billion entries": export([], count: 0xFFFF_FFFF),
        "20,001 entries": export(Array(repeating: entry(), count: 20_001)),
        "unknown content": export([entry(content: 2)]),
        "empty key": export([entry(key: [])]),
        "key beyond the end": export([entry(keyCount: 1 << 20)]),
        "issuer that is not UTF-8": export([entry(issuer: [0xFF])]),
        "issuer with a space at its end": export([entry(issuer: Array("A ".utf8))]),
        "unknown algorithm": export([entry(algorithm: 3)]),
        "11 digits": export([entry(digits: 11)]),
        "period of zero": export([entry(period: 0)]),
        "negative period": export([entry(period: .max)]),
        "unknown state": export([entry(state: 3)]),
        "favourite of two": export([entry(favourite: 2)]),
        "unknown warning": export([entry(warning: [200])]),
        "warning with an unknown alias": export([entry(warning: [30] + text("pin"))]),
        "row zero": export([], refusals: [number(0) + [0]]),
        "unknown reason": export([], refusals: [number(1) + [99]]),
        "picture zero": export([], missing: [number(0)]),
        "bytes after an export": export([entry()]) + [0],
        "unknown error": [65, 99],
        "error about an unknown format": [65, 1, 1, 200],
        "half an error": [65, 1],
    ]

    private static func export(
        _ entries: [[UInt8]], count: Int? = nil, format: UInt8 = 0, refusals: [[UInt8]] = [],
        missing: [[UInt8]] = []
    ) -> [UInt8] {
        [64, format] + number(0) + number(count ?? entries.count) + entries.flatMap(\.self)
            + number(refusals.count) + refusals.flatMap(\.self)
            + number(missing.count) + missing.flatMap(\.self)
    }

    private static func entry(
        content: UInt8 = 0, issuer: [UInt8] = Array("Acme".utf8), key: [UInt8] = [1, 2, 3],
        keyCount: Int? = nil, algorithm: UInt8 = 0, digits: UInt8 = 6, period: UInt64 = 30,
        favourite: UInt8 = 0, state: UInt8 = 0, warning: [UInt8]? = nil
    ) -> [UInt8] {
        let account = text("ann")
        let step = [0] + wide(period) + wide(0)
        let secret = number(keyCount ?? key.count) + key
        let names = [content] + number(issuer.count) + issuer + account
        let credential = names + secret + [algorithm, digits] + step + number(0)
        let rest = number(0) + text("") + [favourite, state]
        return credential + rest + number(warning == nil ? 0 : 1) + (warning ?? [])
    }

    private static func text(_ text: String) -> [UInt8] { number(text.utf8.count) + text.utf8 }

    private static func wide(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

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
