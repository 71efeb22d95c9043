import CommandLineInterface
import VaultService
import WatchwordSystem

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

    /// Creates the file `name` in `folder`; returns `true` in only one of several processes that
    /// try.
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
