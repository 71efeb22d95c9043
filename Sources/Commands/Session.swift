import Arguments
import Cryptography
import OneTimePassword
import POSIX

/// One run of a verb: what was asked for, and the way to the person.
struct Session {
    let arguments: ParsedArguments
    let printer: Printer

    var wantsJSON: Bool { arguments.has(.json) }

    /// The moment that codes are made for: `--at`, or now.
    func moment() throws(CommandFailure) -> Int64 {
        guard let text = arguments[.at] else { return SystemClock.unixTime() }
        return try moment(of: .at, text)
    }

    /// The moment that `option` gives as `text`.
    func moment(of option: Option, _ text: String) throws(CommandFailure) -> Int64 {
        guard let timestamp = Timestamp(parsing: text) else {
            let expected = "Unix seconds or a time like 2026-11-21T01:09:30Z"
            throw .usage(.badValue(option.name, expected: expected))
        }
        return timestamp.unixTime
    }

    /// A clock that nobody keeps right makes wrong codes; the code is made all the same.
    ///
    /// With `--at` the clock is not asked.
    func warnOfClock() {
        guard !printer.isQuiet, !arguments.has(.at), SystemClock.isSynchronized() == false else {
            return
        }
        printer.warn("the system's clock is not synchronised; codes may be wrong")
    }

    /// Asks before a secret is printed where others may look on, or where it stays on the screen.
    func confirmShowing(_ what: String) throws(CommandFailure) {
        guard printer.outputIsTerminal, !arguments.has(.yes) else { return }
        try Question.confirm("Show \(what) on this terminal?")
    }

    /// Turns what is wrong with the arguments into this verb's failure.
    func usage<Result>(_ body: () throws(UsageError) -> Result) throws(CommandFailure) -> Result {
        do { return try body() } catch { throw .usage(error) }
    }
}
