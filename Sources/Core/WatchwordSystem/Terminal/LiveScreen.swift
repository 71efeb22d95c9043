internal import Glibc

/// Takes over the terminal's screen during its lifetime, and restores it afterwards.
///
/// It uses the alternate screen, so nothing that it shows remains in the scrollback.
@safe public struct LiveScreen: ~Copyable {
    /// What ended a wait.
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
        // There is nobody left to report an error to.
        do { try leave() } catch _ {}
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
