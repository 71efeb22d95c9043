import CommandLineInterface
import VaultService

// Times on the command line.
extension Session {
    /// The time that `option` names: a number with `s`, `m` or `h`, or 0; `standard` if it was not
    /// given.
    func timeLimit(
        _ option: Option, standard: Duration, allowsZero: Bool = true
    ) throws -> Duration {
        guard let text = arguments[option] else { return standard }
        guard let limit = TimeLimit(parsing: text), allowsZero || limit.duration > .zero else {
            let expected =
                (allowsZero ? "0 or " : "")
                + "a number followed by s, m or h, such as 15m, and not more than 7 days"
            throw UsageError.badValue(option.name, expected: expected)
        }
        return limit.duration
    }
}

/// A time limit as users write it.
struct TimeLimit: Hashable {
    let duration: Duration

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600]
    private static let longest = HoldingTime.longest.wholeSeconds

    /// Reads `90s`, `15m`, `8h` or `0`.
    init?(parsing text: String) {
        if text == "0" {
            duration = .zero
            return
        }
        // `Int64(_:)` accepts a plus sign, which we refuse.
        guard let unit = text.last.flatMap({ TimeLimit.units[$0] }), !text.hasPrefix("+"),
            let number = Int64(text.dropLast()), number >= 0, number <= TimeLimit.longest / unit
        else { return nil }
        duration = .seconds(number * unit)
    }
}
