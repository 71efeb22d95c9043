import Devices
import SecretVault

// The clipboard, and lists on the whole screen.
extension Messages {
    /// What was copied, and when it is cleared.
    static func copied(_ entry: EntryName, by route: ClipboardRoute, clearedAfter seconds: UInt32?)
        -> String
    {
        let copied = "Copied the code of \(entry.visible)"
        if case .terminal = route {
            return copied + " to the terminal's clipboard, which is not cleared."
        }
        guard let seconds else { return copied + "; the clipboard is not cleared." }
        return copied + "; the clipboard will be cleared in \(seconds) s."
    }

    static func sentence(for failure: ClipboardFailure) -> String {
        switch failure {
        case .noDisplay:
            "there is no desktop to copy to (neither WAYLAND_DISPLAY nor DISPLAY is set); "
                + "use --copy=osc52 to copy through the terminal"
        case .notInstalled(let packages):
            "no program for the clipboard is installed; on Debian, run apt install "
                + packages.joined(separator: " or ")
        case .refused(let tool):
            "\(tool.program) failed, so the code was not copied; it may be unable to reach the display"
        case .noTerminal: "there is no terminal to copy to"
        case .noHelper:
            "watchword-clipboard is not installed beside watchword; reinstall Watchword, or use "
                + "--clear-after 0"
        case .system(let failure): "the clipboard: " + sentence(for: failure)
        }
    }

    static func ended(after limit: Duration) -> String {
        "Ended after \(duration(limit.components.seconds)) without a key press."
    }
}
