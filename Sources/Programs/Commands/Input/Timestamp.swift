import CommandLineInterface
import VaultService
import WatchwordSystem

/// A time given as Unix seconds or RFC 3339 (section 5.6).
struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    let unixTime: Int64

    init(unixTime: Int64) { self.unixTime = unixTime }

    /// Parses whole seconds (`1763687370`, `-1`) or RFC 3339 (`2026-11-21T01:09:30Z`).
    ///
    /// A fraction of a second is discarded. `nil` if `text` is neither.
    init?(parsing text: String) {
        if let seconds = Int64(text), !text.hasPrefix("+") {
            unixTime = seconds
            return
        }
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let seconds = reader.dateAndTime(), reader.rest.isEmpty else { return nil }
        unixTime = seconds
    }

    /// Whether RFC 3339 can represent the time: its years have four digits.
    var isWritable: Bool { UTCTime.fourDigitYears.contains(unixTime) }

    /// The time in RFC 3339 format in UTC, such as `2026-11-21T01:09:30Z`; years after 9999 have
    /// more digits.
    var text: String { UTCTime(unixTime: unixTime).text + "Z" }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func dateAndTime() -> Int64? {
            guard let year = number(4), take("-"), let month = number(2), take("-"),
                let day = number(2), take("T") || take("t") || take(" "),
                let hour = number(2), take(":"), let minute = number(2), take(":"),
                let second = number(2), skipFraction(), let offset = offset()
            else { return nil }
            // Second 60 is a leap second, which Unix time does not count.
            guard let midnight = UTCTime.startOfDay(year: year, month: month, day: day),
                hour <= 23, minute <= 59, second <= 60
            else { return nil }
            return midnight + Int64(hour * 3600 + minute * 60 + second - offset)
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func number(_ width: Int) -> Int? {
            let digits = rest.prefix(width)
            guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            rest = rest.dropFirst(width)
            return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        private mutating func skipFraction() -> Bool {
            guard take(".") else { return true }
            let before = rest.count
            rest = rest.drop { (0x30...0x39).contains($0) }
            return rest.count < before
        }

        /// Seconds east of UTC.
        private mutating func offset() -> Int? {
            if take("Z") || take("z") { return 0 }
            let isWest = rest.first == UInt8(ascii: "-")
            guard take("+") || take("-"), let hour = number(2), take(":"), let minute = number(2),
                hour <= 23, minute <= 59
            else { return nil }
            return (isWest ? -1 : 1) * (hour * 3600 + minute * 60)
        }
    }
}

// The warning that the clock is not synchronised.
extension Session {
    /// Warns if the clock is not synchronised, once per boot and user; with `--at`, the clock is
    /// not used.
    func warnAboutClock() {
        guard wantsClockWarning, !arguments.has(.at), SystemClock.isSynchronized() == false,
            ClockWarningMarker.isNew()
        else { return }
        printer.warn(Messages.unsynchronizedClock)
    }

    /// Warns if the clock is not synchronised, every time.
    func checkClock() {
        guard wantsClockWarning, SystemClock.isSynchronized() == false else { return }
        printer.warn(Messages.unsynchronizedClock)
    }

    private var wantsClockWarning: Bool {
        !printer.isQuiet && !arguments.has(.noClockWarning)
            && Environment.value("WATCHWORD_CLOCK_WARNING") != "off"
    }
}

/// The file that records that the warning was printed since the system started.
enum ClockWarningMarker {
    /// Creates the file, and returns whether it did not exist.
    ///
    /// Without a private folder for the file, the warning is printed each time.
    static func isNew() -> Bool {
        guard let boot = SystemClock.bootID() else { return true }
        var digits = ""
        for byte in boot { digits += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        guard case .opened(let folder) = RuntimeFolder.open(makes: true) else { return true }
        return isNew("clock-warning-" + digits, in: folder.folder)
    }

    /// Creates the file `name` in `folder`; if several processes try, this is true for only one.
    static func isNew(_ name: String, in folder: borrowing Folder) -> Bool {
        do throws(SystemCallFailure) {
            try folder.makePrivateFile(name)
            return true
        } catch {
            return !error.isAlreadyExists
        }
    }
}

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
