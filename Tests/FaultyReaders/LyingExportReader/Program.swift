internal import Lies

/// A reader of exports that sends the correct greeting and then answers falsely, in the way that
/// the “export” names.
@main struct Program {
    static func main() throws {
        say(frame([3] + Array("WWX".utf8) + [3, 0]))
        while let order = try nextOrder(skipping: 1, hasty: {}) {
            if let lie = pipeLies[order] {
                lie()
            } else if let answer = lies[order] {
                say(frame(answer))
            } else {
                // Two answers to one request.
                say(frame(export([entry()])) + frame(export([entry()])))
            }
        }
    }

    /// Answers about an export, each with one wrong value.
    private static let lies: [String: [UInt8]] = [
        "sound export": export([entry()]),
        "unknown format": export([entry()], format: "unknown"),
        "more entries than sent": export([entry()], count: 2),
        "fewer entries than sent": export([entry(), entry()], count: 1),
        "4 billion entries": export([], count: 0xFFFF_FFFF),
        "200,001 entries": export(Array(repeating: entry(), count: 200_001)),
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
        "last use of two": export([entry(use: 2)]),
        "unknown warning": export([entry(warning: [200])]),
        "warning with an unknown alias": export([entry(warning: [3, 3] + text("pin"))]),
        "row zero": export([], refusals: [refusal(row: 0)]),
        "unknown reason": export([], refusals: [refusal(reason: 99)]),
        "picture zero": export([], missing: [number(0)]),
        "bytes after an export": export([entry()]) + [0],
        "unknown verdict": [2, 0, 0, 0],
        "unknown error": [1, 99],
        "error about an unknown format": [1, 1, 1] + text("unknown"),
        "half an error": [1, 1],
    ]

    private static func export(
        _ entries: [[UInt8]], count: Int? = nil, format: String = "aegis",
        refusals: [[UInt8]] = [], missing: [[UInt8]] = []
    ) -> [UInt8] {
        [0] + text(format) + list(entries, count: count) + list(refusals) + number(0)
            + list(missing) + number(0)
    }

    private static func entry(
        content: UInt8 = 0, issuer: [UInt8] = Array("Acme".utf8), key: [UInt8] = [1, 2, 3],
        keyCount: Int? = nil, algorithm: UInt8 = 0, digits: UInt8 = 6, period: UInt64 = 30,
        favourite: UInt8 = 0, state: UInt8 = 0, warning: [UInt8]? = nil, use: UInt8 = 0
    ) -> [UInt8] {
        let names = [content] + string(issuer) + text("ann")
        let step = [0] + number(period, width: 8) + number(0, width: 8)
        let credential = names + string(key, count: keyCount) + [algorithm, digits] + step
        let details = list([]) + list([]) + text("") + text("") + [favourite, state]
        return credential + details + list(warning.map { [$0] } ?? []) + number(0) + [use]
    }

    private static func refusal(row: UInt64 = 1, reason: UInt8 = 0) -> [UInt8] {
        number(row) + number(0) + text("") + text("") + [reason]
    }
}
