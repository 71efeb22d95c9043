import WatchwordCryptography
package import WatchwordSystem

/// A program that reads and writes the desktop's clipboard, and keeps it available in its own
/// process.
///
/// A code is written to the program's standard input, never to its arguments.
package enum ClipboardTool: UInt8, CaseIterable, Sendable {
    // wl-copy and wl-paste, for Wayland.
    case wlCopy = 1
    // xclip and xsel, for X11.
    case xclip = 2
    case xsel = 3

    /// The environment variables that the programs need to find the display.
    package static let environment = [
        "PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "TMPDIR",
    ]

    private static let timeout = Duration.seconds(5)
    private static let contentLimit = 4096

    /// The program that writes.
    package var program: String {
        switch self {
        case .wlCopy: "wl-copy"
        case .xclip: "xclip"
        case .xsel: "xsel"
        }
    }

    /// The Debian package that contains it.
    package var package: String { self == .wlCopy ? "wl-clipboard" : program }

    /// The environment variable without which it cannot work.
    package var display: String { self == .wlCopy ? "WAYLAND_DISPLAY" : "DISPLAY" }

    /// The arguments for writing, in the order in which they are tried.
    ///
    /// `--sensitive` marks the content for clipboard managers (`x-kde-passwordManagerHint`). Older
    /// versions of wl-copy do not have it, and the other programs offer one type only.
    private var writing: [[String]] {
        switch self {
        case .wlCopy: [["--sensitive", "--type", "text/plain"], ["--type", "text/plain"]]
        case .xclip: [["-selection", "clipboard", "-in"]]
        case .xsel: [["--clipboard", "--input"]]
        }
    }

    private var reading: (program: String, arguments: [String]) {
        switch self {
        case .wlCopy: ("wl-paste", ["--no-newline", "--type", "text/plain"])
        case .xclip: (program, ["-selection", "clipboard", "-out"])
        case .xsel: (program, ["--clipboard", "--output"])
        }
    }

    private var clearing: [String] {
        switch self {
        case .wlCopy: ["--clear"]
        // Without a way to release the selection, an empty text replaces it.
        case .xclip: ["-selection", "clipboard", "-in"]
        case .xsel: ["--clipboard", "--clear"]
        }
    }

    package func write(_ text: Span<UInt8>) throws(ClipboardFailure) {
        for arguments in writing {
            if try run(arguments, input: text) == 0 { return }
        }
        throw .refused(self)
    }

    /// The clipboard's text; `nil` if it is too long for a code, or if there is no text.
    package func read() throws(ClipboardFailure) -> WipedBuffer? {
        let (program, arguments) = reading
        guard let path = RunningProgram.find(program) else { throw .notInstalled([package]) }
        return try ClipboardFailure.system(
            in: ProgramOutput.of(
                path, arguments, environment: ClipboardTool.environment,
                limit: ClipboardTool.contentLimit, timeout: ClipboardTool.timeout))
    }

    package func clear() throws(ClipboardFailure) {
        let nothing: [UInt8] = []
        guard try run(clearing, input: nothing.span) == 0 else { throw .refused(self) }
    }

    private func run(_ arguments: [String], input: Span<UInt8>) throws(ClipboardFailure) -> Int32? {
        guard let path = RunningProgram.find(program) else { throw .notInstalled([package]) }
        return try ClipboardFailure.system(
            in: ProgramInput.run(
                path, arguments, input: input, environment: ClipboardTool.environment,
                timeout: ClipboardTool.timeout))
    }
}

/// Why the clipboard cannot be used.
package enum ClipboardFailure: SystemCallError, Hashable, Sendable {
    /// There is no desktop and no connection by SSH.
    case noDisplay
    /// No program for this desktop is installed; one of these packages has one.
    case notInstalled([String])
    /// The program failed; it may be unable to reach the display.
    case refused(ClipboardTool)
    /// There is no terminal.
    case noTerminal
    /// The helper program that clears the clipboard is missing.
    case noHelper
    /// A system call failed.
    case system(SystemCallFailure)
}

/// The clipboard of the terminal, which an escape sequence sets (OSC 52 of xterm).
///
/// Few terminals let a program read it, so Watchword cannot find out whether it still holds a code,
/// and does not clear it.
package enum TerminalClipboard {
    package static func write(_ text: Span<UInt8>) throws(ClipboardFailure) {
        let encoded = String(decoding: Base64.encode(text), as: UTF8.self)
        do throws(TerminalError) {
            let terminal = try Terminal()
            try terminal.write("\u{1B}]52;c;\(encoded)\u{7}")
        } catch {
            if case .system(let failure) = error { throw .system(failure) }
            throw .noTerminal
        }
    }
}

/// A way to the user's clipboard.
package enum ClipboardRoute: Hashable, Sendable {
    /// A program of the desktop.
    case tool(ClipboardTool)
    /// An escape sequence (OSC 52) that asks the terminal, which may be at the other end of a
    /// connection by SSH, to set the clipboard.
    case terminal

    /// The words by which users choose a route, apart from `auto`.
    package static let words = ClipboardTool.allCases.map(\.program) + ["osc52"]

    /// The route that one of ``words`` names.
    package init?(word: String) {
        if word == "osc52" {
            self = .terminal
        } else if let tool = ClipboardTool.allCases.first(where: { $0.program == word }) {
            self = .tool(tool)
        } else {
            return nil
        }
    }

    package var word: String {
        switch self {
        case .tool(let tool): tool.program
        case .terminal: "osc52"
        }
    }

    /// Chooses the first program that is installed and has a display; without a display, the
    /// terminal of a connection by SSH.
    package static func chosen() throws(ClipboardFailure) -> ClipboardRoute {
        try chosen(
            environment: { Environment.value($0) },
            isInstalled: { RunningProgram.find($0) != nil })
    }

    /// Chooses as ``chosen()`` does.
    ///
    /// - Parameters:
    ///   - environment: the value of an environment variable.
    ///   - isInstalled: whether a program is installed.
    static func chosen(
        environment: (String) -> String?, isInstalled: (String) -> Bool
    ) throws(ClipboardFailure) -> ClipboardRoute {
        let usable = ClipboardTool.allCases.filter { environment($0.display) != nil }
        if let tool = usable.first(where: { isInstalled($0.program) }) { return .tool(tool) }
        // The display of a connection by SSH may be forwarded, without a program here.
        if ["SSH_TTY", "SSH_CONNECTION"].contains(where: { environment($0) != nil }) {
            return .terminal
        }
        throw usable.isEmpty ? .noDisplay : .notInstalled(usable.map(\.package))
    }
}
