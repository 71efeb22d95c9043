internal import Glibc

/// Takes over the terminal's screen during its lifetime, and restores it afterwards.
///
/// It uses the alternate screen, so nothing that it shows remains in the scrollback.
@safe public struct LiveScreen: ~Copyable {
    /// The event that ended a wait.
    public enum Event: Hashable, Sendable {
        /// The timeout has expired, or the window size has changed.
        case redraw
        /// A key was pressed.
        case key(TerminalKey)
    }

    private let terminal: Terminal
    private let signals: SignalQueue
    private let before: termios
    private var raw: termios
    private var keys = TerminalKeys()

    private static let entering = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leaving = "\u{1B}[?25h\u{1B}[?1049l"
    /// The bytes of one key follow each other faster than this.
    private static let timeBetweenBytes = Duration.milliseconds(50)

    /// Takes over the screen.
    public static func take() throws(TerminalError) -> LiveScreen {
        let terminal = try Terminal()
        let before = try terminal.settings()
        let signals = try TerminalError.system(in: SignalQueue(SignalQueue.Signal.allCases))
        let screen = LiveScreen(terminal: terminal, signals: signals, before: before)
        try screen.enter()
        return screen
    }

    private init(
        terminal: consuming Terminal, signals: consuming SignalQueue, before: termios
    ) {
        self.terminal = terminal
        self.signals = signals
        self.before = before
        raw = before
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON)
    }

    deinit {
        // An error can no longer be reported.
        _ = ifPossible(try leave())
    }

    /// The number of columns and rows; 80 and 24 if the terminal does not report them.
    public var size: (columns: Int, rows: Int) { terminal.size() ?? (80, 24) }

    /// Writes `frame`, which contains cursor positions, in one step.
    public func draw(_ frame: Span<UInt8>) throws(TerminalError) {
        try terminal.write(frame)
    }

    /// Waits until a key is pressed, the window size changes, or `timeout` expires.
    ///
    /// - Throws: ``TerminalError/ended`` if the terminal has been closed.
    public mutating func wait(timeout: Duration) throws(TerminalError) -> Event {
        if let key = keys.next(isComplete: false) { return .key(key) }
        let isInKey = !keys.isEmpty
        let isReadable = try TerminalError.system(
            in: signals.wait(
                for: terminal.descriptor,
                timeout: isInKey ? LiveScreen.timeBetweenBytes : timeout))
        let signal = try TerminalError.system(in: signals.next())
        switch signal {
        case nil:
            if isReadable { try readKeys() }
            let isComplete = isInKey && !isReadable
            return keys.next(isComplete: isComplete).map { .key($0) } ?? .redraw
        case .windowChange: return .redraw
        case .interrupt: return .key(.control("c"))
        case .stop:
            try forward(.stop)
            try enter()
            return .redraw
        case .hangUp, .quit, .terminate:
            if let signal { try forward(signal) }
            throw .interrupted
        }
    }

    private func forward(_ signal: SignalQueue.Signal) throws(TerminalError) {
        try leave()
        try TerminalError.system(in: signals.deliver(signal))
    }

    private mutating func readKeys() throws(TerminalError) {
        let bytes = try [UInt8](capacity: 256) { output throws(TerminalError) in
            _ = try TerminalError.system(in: terminal.descriptor.read(into: &output))
        }
        guard !bytes.isEmpty else { throw .ended }
        keys.append(bytes)
    }

    private func enter() throws(TerminalError) {
        try terminal.apply(raw, flushing: true)
        try terminal.write(LiveScreen.entering)
    }

    private func leave() throws(TerminalError) {
        try terminal.write(LiveScreen.leaving)
        try terminal.apply(before, flushing: false)
    }
}

/// A key that the user pressed.
public enum TerminalKey: Hashable, Sendable {
    case character(Character)
    /// A letter with Ctrl.
    case control(Character)
    case enter, escape, backspace
    case up, down, pageUp, pageDown, home, end
}

/// Recognises keys in the bytes that a terminal sends (ECMA-48, xterm).
struct TerminalKeys {
    private var bytes: ArraySlice<UInt8> = []

    /// The longest control sequence that is recognised; terminals send much shorter sequences.
    private static let longestSequence = 32
    private static let escape: UInt8 = 0x1B

    /// Whether every byte belongs to a key that was returned, or was skipped.
    var isEmpty: Bool { bytes.isEmpty }

    /// Adds bytes that the terminal has sent.
    mutating func append(_ more: [UInt8]) { bytes += more }

    /// The next key; `nil` if there is none, or if more bytes may belong to it.
    ///
    /// - Parameter isComplete: whether no more bytes have come for some time, so that an escape
    ///   character is the key, not the beginning of a sequence.
    mutating func next(isComplete: Bool) -> TerminalKey? {
        while let first = bytes.first {
            if first == TerminalKeys.escape {
                guard let length = sequenceLength else {
                    guard isComplete || bytes.count > TerminalKeys.longestSequence else {
                        return nil
                    }
                    bytes = []
                    return .escape
                }
                let sequence = Array(bytes.prefix(length))
                bytes = bytes.dropFirst(length)
                if let key = TerminalKeys.key(of: sequence) { return key }
            } else if first < 0x20 || first == 0x7F {
                bytes = bytes.dropFirst()
                if let key = TerminalKeys.key(ofControl: first) { return key }
            } else {
                guard let length = characterLength(from: first, isComplete) else { return nil }
                let text = String(validating: bytes.prefix(length), as: UTF8.self)
                bytes = bytes.dropFirst(length)
                // A character that would not be visible cannot be part of a search.
                if let character = text?.first,
                    !character.unicodeScalars.contains(where: \.isInvisible)
                {
                    return .character(character)
                }
            }
        }
        return nil
    }

    /// The length of the control sequence at the start; `nil` if it has not ended.
    private var sequenceLength: Int? {
        let rest = bytes.dropFirst()
        guard let second = rest.first else { return nil }
        switch second {
        case UInt8(ascii: "["):
            // Parameters, and one byte that ends the sequence.
            let parameters = rest.dropFirst().prefix { (0x20...0x3F).contains($0) }
            let length = 2 + parameters.count + 1
            return bytes.count >= length ? length : nil
        case UInt8(ascii: "O"): return bytes.count >= 3 ? 3 : nil
        case TerminalKeys.escape: return 1
        // A key with Alt.
        default: return 2
        }
    }

    /// The key of a control sequence; `nil` for a sequence that has no meaning here.
    private static func key(of sequence: [UInt8]) -> TerminalKey? {
        guard sequence.count > 1 else { return .escape }
        guard sequence.count > 2, let last = sequence.last else { return nil }
        switch last {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            let number = sequence.dropFirst(2).prefix { (0x30...0x39).contains($0) }
            switch String(decoding: number, as: UTF8.self) {
            case "1", "7": return .home
            case "4", "8": return .end
            case "5": return .pageUp
            case "6": return .pageDown
            default: return nil
            }
        default: return nil
        }
    }

    private static func key(ofControl byte: UInt8) -> TerminalKey? {
        switch byte {
        case 0x0A, 0x0D: .enter
        case 0x08, 0x7F: .backspace
        case 0x01...0x1A: .control(Character(Unicode.Scalar(byte | 0x60)))
        default: nil
        }
    }

    /// The number of bytes of the character that `first` begins; `nil` if not all have come.
    private func characterLength(from first: UInt8, _ isComplete: Bool) -> Int? {
        let length =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        return bytes.count >= length || isComplete ? min(length, bytes.count) : nil
    }
}
