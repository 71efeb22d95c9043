import CommandLineInterface
import WatchwordSystem

// The warning that the clock is not synchronised.
extension Session {
    /// Warns if the clock is not synchronised, once per boot and user; with `--at`, the clock is not
    /// used.
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
        do throws(RuntimeFolder.Failure) {
            let folder = try RuntimeFolder.open(makes: true)
            return isNew("clock-warning-" + digits, in: folder.folder)
        } catch {
            return true
        }
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
