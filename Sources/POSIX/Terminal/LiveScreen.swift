internal import Glibc

/// Takes over the terminal's screen during its lifetime, and restores it afterwards.
///
/// It uses the alternate screen, so nothing that it shows remains in the scrollback.
@safe public struct LiveScreen: ~Copyable {
    /// What ended a wait.
    public enum Event: Hashable, Sendable {
        /// The timeout has expired, or the window size has changed.
        case redraw
        /// A key was pressed; this is its first byte. Ctrl-C is 3.
        case key(UInt8)
    }

    private let terminal: Terminal
    private let signals: SignalQueue
    private let before: termios
    private var raw: termios

    private static let entering = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leaving = "\u{1B}[?25h\u{1B}[?1049l"
    private static let controlC: UInt8 = 3

    /// Takes over the screen.
    public static func take() throws(TerminalError) -> LiveScreen {
        let terminal = try Terminal()
        let before = try terminal.settings()
        let signals = try blockSignals()
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
    public func wait(timeout: Duration) throws(TerminalError) -> Event {
        let isReadable: Bool
        let signal: SignalQueue.Signal?
        do {
            isReadable = try signals.wait(
                for: terminal.descriptor, timeout: timeout)
            signal = try signals.next()
        } catch {
            throw .system(error)
        }
        switch signal {
        case nil: return isReadable ? .key(try key()) : .redraw
        case .windowChange: return .redraw
        case .interrupt: return .key(LiveScreen.controlC)
        case .stop:
            try forward(.stop)
            try enter()
            return .redraw
        case .hangUp, .quit, .terminate:
            if let signal { try forward(signal) }
            throw .interrupted
        }
    }

    private static func blockSignals() throws(TerminalError) -> SignalQueue {
        do {
            return try SignalQueue(SignalQueue.Signal.allCases)
        } catch {
            throw .system(error)
        }
    }

    private func forward(_ signal: SignalQueue.Signal) throws(TerminalError) {
        try leave()
        do { try signals.deliver(signal) } catch { throw .system(error) }
    }

    private func key() throws(TerminalError) -> UInt8 {
        // A key such as an arrow can send several bytes; the first one is sufficient.
        var first: UInt8?
        do {
            let bytes = try [UInt8](capacity: 16) { output throws(SystemCallFailure) in
                _ = try terminal.descriptor.read(into: &output)
            }
            first = bytes.first
        } catch {
            throw .system(error)
        }
        guard let first else { throw .ended }
        return first
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
