public import Foundation
internal import Glibc
internal import WatchwordSystem

/// A program on its own pseudo-terminal, with the test at the keyboard.
public final class PseudoTerminal {
    /// The test's side of the terminal; `nil` once it is closed, because its number may then belong
    /// to another file.
    private var keyboard: FileDescriptor?
    private let process = Process()
    // The folder must exist for as long as the program runs.
    private let folder: TemporaryFolder
    private var shown: [UInt8] = []

    /// Everything shown so far.
    ///
    /// It is decoded as a whole, because a read can end within a character.
    public var screen: String { String(decoding: shown, as: UTF8.self) }

    /// A failed step of the test.
    public struct Failure: Error { let what: String }

    /// Runs a shell command with the terminal as its controlling terminal and its standard streams.
    public init(
        _ command: String, in folder: TemporaryFolder, environment: [String: String] = [:]
    ) throws {
        var outside: Int32 = -1
        var inside: Int32 = -1
        guard unsafe openpty(&outside, &inside, nil, nil, nil) == 0 else {
            throw Failure(what: "openpty")
        }
        for number in [outside, inside] { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        keyboard = FileDescriptor(owning: outside)
        self.folder = folder
        Self.resize(outside, columns: 80, rows: 24)
        let terminal = FileHandle(fileDescriptor: inside, closeOnDealloc: false)
        let programs = URL(filePath: BuiltProgram.path("watchword")).deletingLastPathComponent()
            .path
        process.executableURL = URL(filePath: "/usr/bin/setsid")
        // The tests may run in the background of a script, where keys such as Ctrl-C are ignored.
        process.arguments = [
            "--ctty", "--wait", "/usr/bin/env", "--default-signal", "/bin/sh", "-c",
            "cd '\(folder.path)'; \(command)",
        ]
        process.environment = [
            "PATH": "\(programs):/usr/bin:/bin", "HOME": folder.path, "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color", "WATCHWORD_CLOCK_WARNING": "off",
        ].merging(environment) { _, new in new }
        process.standardInput = terminal
        process.standardOutput = terminal
        process.standardError = terminal
        try process.start()
        // Now only the program has the terminal open, so reading detects when the program ends.
        try terminal.close()
    }

    /// Closes the terminal, as closing a window does.
    public func hangUp() { keyboard = nil }

    deinit {
        if process.isRunning { process.terminate() }
    }

    private func openNumber() throws -> Int32 {
        switch keyboard {
        case .some(let file): return file.number
        case .none: throw Failure(what: "the terminal is closed")
        }
    }

    /// Reads until the screen shows `text`.
    public func waitFor(_ text: String) throws {
        while !screen.contains(text) {
            guard try readMore() else { throw Failure(what: "the program ended before “\(text)”") }
        }
    }

    /// Types `text` as a user would in response to what is shown.
    public func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        let number = try openNumber()
        let count = unsafe write(number, bytes, bytes.count)
        guard count == bytes.count else { throw Failure(what: "write") }
    }

    /// Changes the size of the window.
    public func resize(columns: UInt16, rows: UInt16) throws {
        Self.resize(try openNumber(), columns: columns, rows: rows)
    }

    private static func resize(_ terminal: Int32, columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(terminal, UInt(TIOCSWINSZ), &size)
    }

    /// Discards everything shown so far.
    public func clear() { shown = [] }

    /// Reads the remaining output and returns the exit code of the program.
    public func end() throws -> Int32 {
        while try readMore() {}
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Whether the terminal currently echoes input and edits lines.
    public func settings() throws -> (echoes: Bool, edits: Bool) {
        let number = try openNumber()
        var settings = termios()
        guard unsafe tcgetattr(number, &settings) == 0 else { throw Failure(what: "tcgetattr") }
        return (settings.c_lflag & tcflag_t(ECHO) != 0, settings.c_lflag & tcflag_t(ICANON) != 0)
    }

    private func readMore() throws -> Bool {
        let keyboard = try openNumber()
        var ready = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&ready, 1, 20_000) > 0 else {
            throw Failure(what: "no output for 20 s; the screen shows: \(screen)")
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(keyboard, &bytes, bytes.count)
        // Reading from a terminal whose last program has ended fails with EIO.
        guard count > 0 else { return false }
        shown += bytes.prefix(count)
        return true
    }
}

extension FileHandle {
    /// Whether bytes written to a pipe are still unread.
    public static func isUnread(_ pipe: Foundation.Pipe) throws -> Bool {
        var count: Int32 = 0
        let number = pipe.fileHandleForWriting.fileDescriptor
        guard unsafe ioctl(number, UInt(FIONREAD), &count) == 0 else {
            throw PseudoTerminal.Failure(what: "ioctl")
        }
        return count > 0
    }
}
