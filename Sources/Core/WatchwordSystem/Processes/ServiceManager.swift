internal import Glibc

/// The interface to the service manager that started this process, such as systemd.
public enum ServiceManager {
    /// Reports the state of the service, in lines as in sd_notify(3), if the service manager wants
    /// reports.
    public static func tell(_ facts: [String]) throws(SystemCallFailure) {
        guard let path = Environment.value("NOTIFY_SOCKET") else { return }
        try LocalSocket.send(Array(facts.joined(separator: "\n").utf8).span, to: path)
    }

    /// The interval within which the service must report that it works, or be restarted; `nil` if
    /// the service manager expects no such reports (`sd_watchdog_enabled(3)`).
    public static func watchdogTimeout() -> Duration? {
        guard let text = Environment.value("WATCHDOG_USEC"), let microseconds = Int64(text),
            microseconds > 0
        else { return nil }
        if let process = Environment.value("WATCHDOG_PID"), Int32(process) != getpid() {
            return nil
        }
        return .microseconds(microseconds)
    }

    /// The path of the file that the service manager passes under `name`; `nil` if there is none.
    public static func credential(_ name: String) -> String? {
        guard let folder = Environment.value("CREDENTIALS_DIRECTORY"), folder.hasPrefix("/") else {
            return nil
        }
        let path = folder + "/" + name
        return FileStamp(of: path) == nil ? nil : path
    }

    /// Reads a file that the service manager passes.
    ///
    /// The file belongs to this process's user or, if an access control list lets this user read
    /// it, to root; the list's mask then appears as the permissions of the group.
    public static func readCredential(
        at path: String, limit: Int
    ) throws(FileError) -> [UInt8] {
        let file = try FileError.reading(FileDescriptor(reading: path))
        let facts = try FileError.system(in: file.facts())
        guard FileKind(facts) == .file else { throw .notAFile }
        guard [0, geteuid()].contains(facts.st_uid) else { throw .otherOwner(facts.st_uid) }
        let mode = facts.st_mode & 0o7777
        guard mode & 0o037 == 0 else { throw .openToOthers(mode: mode) }
        guard facts.st_size <= limit else { throw .tooLarge(limit: limit) }
        return try FileError.system(in: file.bytes(atMost: limit))
    }
}
