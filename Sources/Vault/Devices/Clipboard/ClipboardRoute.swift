import WatchwordSystem

/// A way to the user's clipboard.
package enum ClipboardRoute: Hashable, Sendable {
    /// A program of the desktop.
    case tool(ClipboardTool)
    /// An escape sequence (OSC 52) that asks the terminal, which may be at the other end of a
    /// connection by SSH, to set the clipboard.
    case terminal

    /// The words by which users choose one, apart from `auto`.
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

    /// The word that names the route.
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
        // The display of a connection by SSH may be a forwarded one, without a program here.
        if ["SSH_TTY", "SSH_CONNECTION"].contains(where: { environment($0) != nil }) {
            return .terminal
        }
        throw usable.isEmpty ? .noDisplay : .notInstalled(usable.map(\.package))
    }
}
