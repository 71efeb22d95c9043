import CommandLineInterface
import OneTimePassword
import SecretVault
import WatchwordCryptography
import WatchwordSystem

/// Asks for a passphrase in a window, through GnuPG's program `pinentry`.
///
/// The two programs speak the Assuan protocol
/// (https://www.gnupg.org/documentation/manuals/assuan/): each command and each response is a line
/// of at most 1,000 bytes.
final class PinEntry {
    /// The reason why no passphrase was entered.
    enum Failure: Hashable, Sendable {
        case notInstalled
        /// The person closed the window, or chose “Cancel”.
        case cancelled
        case timedOut
        /// The program reported this error of libgpg-error, for example because no display was
        /// available.
        case refused(code: Int)
        /// The program ended, or broke the protocol.
        case malformed
        case system(SystemCallFailure)
    }

    private static let program = "pinentry"
    /// The packages with graphical versions of the program.
    static let packages = ["pinentry-gtk2", "pinentry-gnome3", "pinentry-qt"]
    /// The environment variables that it needs to find the display, and to speak the user's
    /// language.
    private static let environment = [
        "PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR",
        "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "DBUS_SESSION_BUS_ADDRESS", "LANG", "LC_ALL",
        "LC_CTYPE", "LC_MESSAGES",
    ]
    private static let longestLine = 1000
    private static let longestAnswer = 4096
    /// The time limit for the person; pinentry is told, and killed a little later.
    private static let timeout = Duration.seconds(120)

    private let process: ChildProcess

    /// Whether a display for a window is available.
    static var hasDisplay: Bool {
        ["DISPLAY", "WAYLAND_DISPLAY"].contains { Environment.value($0) != nil }
    }

    /// Starts the program, which ends when this value is released.
    init() throws {
        guard let path = RunningProgram.find(PinEntry.program) else {
            throw CommandFailure.pinEntry(.notInstalled)
        }
        process = try PinEntry.system(
            in: ChildProcess(
                running: path, environment: Environment.variables(PinEntry.environment)))
        _ = try response()
        try send("SETTITLE Watchword")
        try send("SETTIMEOUT \(PinEntry.timeout.components.seconds)")
    }

    /// Asks for the passphrase.
    ///
    /// - Parameters:
    ///   - description: the purpose of the passphrase.
    ///   - complaint: the reason why the last answer was refused.
    func passphrase(for description: String, complaint: String?) throws -> SecretBytes {
        try send("SETDESC " + PinEntry.escaped(description))
        try send("SETPROMPT Passphrase:")
        if let complaint { try send("SETERROR " + PinEntry.escaped(complaint)) }
        return try send("GETPIN")
    }

    /// Shows a message until the person closes it.
    func show(_ message: String) throws {
        try send("SETDESC " + PinEntry.escaped(message))
        try send("MESSAGE")
    }

    /// A text in a command: percent signs and line breaks are encoded.
    private static func escaped(_ text: String) -> String {
        let bytes = text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "%"): Array("%25".utf8)
            case 0..<0x20: Array("%20".utf8)
            default: [byte]
            }
        }
        return String(decoding: bytes.prefix(longestLine - 20), as: UTF8.self)
    }

    /// Sends a command, and returns the data in the response.
    @discardableResult
    private func send(_ command: String) throws -> SecretBytes {
        do { try process.input.writeAll(Array((command + "\n").utf8).span) } catch {
            throw CommandFailure.pinEntry(error.isConnectionLost ? .malformed : .system(error))
        }
        return try response()
    }

    /// Reads lines until the response is complete.
    private func response() throws -> SecretBytes {
        let deadline = Moment.now + PinEntry.timeout + .seconds(5)
        let encoded = try PinEntry.system(in: WipedBuffer(capacity: 3 * PinEntry.longestAnswer))
        let line = try PinEntry.system(in: WipedBuffer(capacity: PinEntry.longestLine + 1))
        while true {
            switch try PinEntry.system(in: read(line, until: deadline)) {
            case .complete: break
            case .late: throw CommandFailure.pinEntry(.timedOut)
            case .bad: throw CommandFailure.pinEntry(.malformed)
            }
            switch line.withBytes(PinEntry.meaning) {
            case .ok: return PinEntry.decoded(encoded)
            case .refused(let code): throw CommandFailure.pinEntry(PinEntry.failure(code))
            case .data:
                guard encoded.count + line.count <= encoded.capacity else {
                    throw CommandFailure.pinEntry(.malformed)
                }
                // Omit the line ending.
                line.withBytes { encoded.append($0.extracting(2..<$0.count - 1)) }
            case .note: break
            case .unknown: throw CommandFailure.pinEntry(.malformed)
            }
        }
    }

    /// Converts the failure of a system call.
    private static func system<Result: ~Copyable>(
        in call: @autoclosure () throws(SystemCallFailure) -> Result
    ) throws -> Result {
        do { return try call() } catch { throw CommandFailure.pinEntry(.system(error)) }
    }

    private enum Reading {
        case complete, late, bad
    }

    /// Reads one line, without its line ending.
    private func read(
        _ line: WipedBuffer, until deadline: Moment
    ) throws(SystemCallFailure) -> Reading {
        line.removeAll()
        while true {
            // Read byte by byte, so that no part of the next line is consumed.
            let progress = try line.append(atMost: 1) { output throws(SystemCallFailure) in
                try process.output.readAvailable(into: &output)
            }
            switch progress {
            case .moved:
                let isEnd = line.withBytes { $0[$0.count - 1] == UInt8(ascii: "\n") }
                if isEnd { return .complete }
                guard line.count < line.capacity else { return .bad }
            case .ended: return .bad
            case .wouldWait:
                guard deadline.timeRemaining > .zero else { return .late }
                _ = try Polling.wait(
                    for: [.reading(process.output)], timeout: deadline.timeRemaining)
            }
        }
    }

    /// The meaning of a line from the program.
    private enum Meaning {
        case ok
        case data
        case refused(code: Int)
        /// A comment or a status.
        case note
        case unknown
    }

    private static func meaning(_ line: Span<UInt8>) -> Meaning {
        func begins(_ word: String) -> Bool {
            line.count >= word.utf8.count
                && zip(line.indices, word.utf8).allSatisfy { line[$0] == $1 }
        }
        if begins("OK") { return .ok }
        if begins("D ") { return .data }
        if begins("#") || begins("S ") { return .note }
        guard begins("ERR ") else { return .unknown }
        let digits = line.extracting(4..<line.count)
        let text = digits.indices.map { digits[$0] }.prefix { (0x30...0x39).contains($0) }
        return .refused(code: Int(String(decoding: text, as: UTF8.self)) ?? 0)
    }

    /// The errors of libgpg-error that are not failures; the upper bits name the source.
    private static func failure(_ code: Int) -> Failure {
        switch code & 0xffff {
        case 62: .timedOut
        case 99, 198: .cancelled
        default: .refused(code: code & 0xffff)
        }
    }

    private static func decoded(_ encoded: WipedBuffer) -> SecretBytes {
        SecretBytes(capacity: max(encoded.count, 1)) { output in
            var decoder = PercentDecoder(plus: .itself)
            encoded.withBytes { decoder.decode($0, into: &output) }
        }
    }
}

// The prompt in a window, where there is no terminal.
extension Session {
    /// Whether `unlock` asks for the passphrase in a window: there is a display, but no terminal.
    func asksInWindow(slots: [SlotSummary]) -> Bool {
        guard promptsForOpener, !isOpenedByRecoveryKey, PinEntry.hasDisplay,
            slots.contains(where: \.isPassphrase)
        else { return false }
        do {
            _ = try Terminal()
            return false
        } catch {
            return error == .none
        }
    }

    /// Calls `unlock` with the passphrase from a window, up to three times.
    func attemptingInWindow<Result>(
        _ path: String, lockOut: () throws -> Int64,
        unlock: (VaultOpener) throws -> Result
    ) throws -> Result {
        let window = try PinEntry()
        var attempts = PromptAttempts()
        var complaint: String?
        while true {
            let seconds = try lockOut()
            guard seconds == 0 else {
                throw refused(
                    .vaultLockedOut(VisibleText.of(path), seconds: seconds), in: window)
            }
            let passphrase = try window.passphrase(
                for: "Unlock the vault \(VisibleText.of(path))", complaint: complaint)
            // As on the terminal, an empty answer cancels the prompt and is not counted.
            guard passphrase.count > 0 else { throw CommandFailure.pinEntry(.cancelled) }
            do {
                return try unlock(.passphrase(passphrase))
            } catch CommandFailure.presence(let refusal) {
                guard attempts.allowAnother(after: refusal) else {
                    throw refused(refusal, in: window)
                }
                complaint = Messages.sentence(for: refusal)
            }
        }
    }

    /// Shows why the vault stays locked, and returns the failure of the command.
    private func refused(
        _ refusal: PresenceRefusal, in window: PinEntry
    ) -> CommandFailure {
        // The command fails in any case, and prints the same sentence.
        do { try window.show(Messages.sentence(for: refusal)) } catch {}
        return .presence(refusal)
    }
}
