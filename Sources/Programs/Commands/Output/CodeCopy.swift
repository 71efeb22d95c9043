import CommandLineInterface
import Devices
import SecretVault
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// The way of a code to the clipboard, and the time when the clipboard is cleared.
struct CodeCopy {
    let route: ClipboardRoute
    /// The seconds of `--clear-after`; `nil` if the option was not given.
    let clearAfter: Int64?
    /// The path of the program that clears the clipboard; `nil` if the clipboard is not cleared.
    let helper: String?

    /// After this time, the clipboard is cleared, even if the code is still valid.
    static let longest: Int64 = 45

    /// The seconds until the clipboard is cleared of a code that is valid until `end`; `nil` if it
    /// is not cleared.
    func delay(until end: Int64?, now: Int64) -> UInt32? {
        guard helper != nil else { return nil }
        if let clearAfter { return UInt32(clamping: clearAfter) }
        let remaining = end.map { max($0 - now, 1) } ?? CodeCopy.longest
        return UInt32(clamping: min(remaining, CodeCopy.longest))
    }
}

extension Session {
    /// The way to copy, according to the options and the environment.
    func codeCopy() throws -> CodeCopy {
        let word = try arguments.choice(.copy)
        let clearAfter = try arguments.integer(.clearAfter, in: Int64(0)...86_400)
        // `auto` does not determine a route.
        let route = try word.flatMap { ClipboardRoute(word: $0) } ?? ClipboardRoute.chosen()
        guard case .tool = route, clearAfter != 0 else {
            return CodeCopy(route: route, clearAfter: clearAfter, helper: nil)
        }
        guard let helper = RunningProgram.companion(ClipboardClearing.program) else {
            throw ClipboardFailure.noHelper
        }
        return CodeCopy(route: route, clearAfter: clearAfter, helper: helper)
    }

    /// Puts `code` on the clipboard.
    ///
    /// - Returns: the seconds until the clipboard is cleared; `nil` if it is not cleared.
    func copy(_ code: EntryCode, by copy: CodeCopy) throws -> UInt32? {
        let text = SecretBytes(copying: Array(code.text.utf8).span)
        try text.withBytes { text in
            switch copy.route {
            case .tool(let tool): try tool.write(text)
            case .terminal: try TerminalClipboard.write(text)
            }
        }
        guard case .tool(let tool) = copy.route, let helper = copy.helper,
            let delay = copy.delay(until: code.end, now: SystemClock.unixTime())
        else { return nil }
        let clearing = text.withBytes { text in
            ClipboardClearing(of: text, by: tool, after: delay)
        }
        do throws(SystemCallFailure) {
            try clearing.start(helper)
            return delay
        } catch {
            printer.alarm("the clipboard will not be cleared: " + Messages.sentence(for: error))
            return nil
        }
    }

    /// Puts `code` on the clipboard, and tells the user.
    func deliver(_ code: EntryCode, by copy: CodeCopy) throws {
        let seconds = try self.copy(code, by: copy)
        let fields: Record = [
            ("copied_by", .text(copy.route.word)),
            ("cleared_in", seconds.map { .number(Int64($0)) } ?? .null),
        ]
        try print(
            code.record(with: fields),
            orNote: Messages.copied(code.entry.name, by: copy.route, clearedAfter: seconds))
    }
}
