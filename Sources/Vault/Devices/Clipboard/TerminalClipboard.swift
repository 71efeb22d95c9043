import WatchwordCryptography
import WatchwordSystem

/// The clipboard of the terminal, which an escape sequence sets (OSC 52 of xterm).
///
/// Few terminals let a program read it, so Watchword cannot find out whether it still holds a code, and
/// does not clear it.
package enum TerminalClipboard {
    /// Puts `text` on the clipboard.
    package static func write(_ text: Span<UInt8>) throws(ClipboardFailure) {
        let encoded = String(decoding: Base64.encode(text), as: UTF8.self)
        do throws(TerminalError) {
            try send("\u{1B}]52;c;\(encoded)\u{7}")
        } catch {
            throw failure(error)
        }
    }

    private static func send(_ sequence: String) throws(TerminalError) {
        let terminal = try Terminal()
        try terminal.write(sequence)
    }

    private static func failure(_ error: TerminalError) -> ClipboardFailure {
        if case .system(let failure) = error { .system(failure) } else { .noTerminal }
    }
}
