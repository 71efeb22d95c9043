internal import Glibc

/// Why reading from the terminal failed.
public enum TerminalError: SystemCallError, Hashable, Sendable {
    /// This process has no terminal.
    case none
    /// The user ended the input without an answer (Ctrl-D on an empty line).
    case ended
    /// The line was too long.
    case tooLong
    /// A termination signal arrived. It takes effect once it is no longer blocked, unless it is
    /// ignored.
    case interrupted
    /// A system call failed.
    case system(SystemCallFailure)
}

/// The controlling terminal of this process, whatever its standard streams are.
@safe public struct Terminal: ~Copyable {
    let descriptor: FileDescriptor

    /// Opens `/dev/tty`.
    public init() throws(TerminalError) {
        let opened = retrying { unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) }
        guard opened >= 0 else {
            throw [ENXIO, ENOENT, ENODEV, EACCES, EPERM].contains(errno)
                ? .none : .system(SystemCallFailure(call: "open", number: errno))
        }
        descriptor = FileDescriptor(owning: opened)
    }

    /// Writes `bytes` to the terminal, unchanged.
    public func write(_ bytes: Span<UInt8>) throws(TerminalError) {
        try TerminalError.system(in: descriptor.writeAll(bytes))
    }

    /// Writes `text` to the terminal, unchanged.
    public func write(_ text: String) throws(TerminalError) {
        try write(Array(text.utf8).span)
    }

    /// The number of columns and rows, or `nil` if the terminal does not report them.
    public func size() -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard unsafe ioctl(descriptor.number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func settings() throws(TerminalError) -> termios {
        var settings = termios()
        try TerminalError.system(
            in: call("tcgetattr") { unsafe tcgetattr(descriptor.number, &settings) })
        return settings
    }

    /// Applies `settings`; discards earlier input if `flushing`.
    func apply(_ settings: termios, flushing: Bool) throws(TerminalError) {
        var settings = settings
        let when = flushing ? TCSAFLUSH : TCSADRAIN
        try TerminalError.system(
            in: call("tcsetattr", retrying: true) {
                unsafe tcsetattr(descriptor.number, when, &settings)
            })
    }
}

extension Terminal {
    /// How a prompt with a deadline ended.
    public enum PromptOutcome: Hashable, Sendable {
        /// The user entered an answer.
        case answered
        /// The deadline passed; a partial answer was discarded.
        case timedOut
        /// The other descriptor became readable; a partial answer was discarded.
        case overtaken
    }

    /// A question, and what can end it besides an answer.
    public struct Prompt {
        /// The text of the question.
        let text: String
        /// Whether typed text is shown.
        let isEchoed: Bool
        let deadline: Moment?
        /// The descriptor that ends the prompt when it becomes readable.
        let other: Polling.Interest?
        /// Called with the signal that is about to be delivered, which may end the process.
        let beforeSignal: (SignalQueue.Signal) -> Void

        /// Asks `text` until `deadline`, or until `other` is readable.
        ///
        /// - Parameter beforeSignal: called with the signal that is about to be delivered, which
        ///   may end the process.
        public init(
            _ text: String, isEchoed: Bool, until deadline: Moment? = nil,
            unless other: Polling.Interest? = nil,
            beforeSignal: @escaping (SignalQueue.Signal) -> Void = { _ in }
        ) {
            self.text = text
            self.isEchoed = isEchoed
            self.deadline = deadline
            self.other = other
            self.beforeSignal = beforeSignal
        }
    }

    /// Shows `prompt` and reads one line into `answer`, without its line ending.
    ///
    /// If a signal ends the prompt (Ctrl-C, Ctrl-\, a hang-up, a termination request), the terminal
    /// is restored before the signal takes effect, and the partial answer is discarded. After
    /// Ctrl-Z and `fg` the prompt is repeated.
    @discardableResult public func ask(
        _ prompt: Prompt, into answer: inout OutputSpan<UInt8>
    ) throws(TerminalError) -> PromptOutcome {
        let before = try settings()
        var quiet = before
        if !prompt.isEchoed {
            quiet.c_lflag &= ~tcflag_t(ECHO)
            quiet.c_lflag |= tcflag_t(ECHONL)
        }
        var awaited = [Polling.Interest.reading(descriptor)]
        if let other = prompt.other { awaited.append(other) }
        let question = Question(prompt: prompt, before: before, quiet: quiet, awaited: awaited)
        let signals = try TerminalError.system(
            in: SignalQueue([.interrupt, .terminate, .hangUp, .quit, .stop]))
        let start = answer.count
        let outcome: Result<PromptOutcome, TerminalError>
        do {
            try apply(quiet, flushing: true)
            try write(prompt.text)
            outcome = .success(try read(into: &answer, question, signals: signals))
        } catch {
            outcome = .failure(error)
        }
        // A partial answer must not stay in the terminal, where the shell would read it and keep
        // it.
        let isAnswered = if case .success(.answered) = outcome { true } else { false }
        if !isAnswered { answer.removeLast(answer.count - start) }
        try apply(before, flushing: !isAnswered)
        if case .success = outcome, !isAnswered { try write("\n") }
        return try outcome.get()
    }

    private struct Question {
        let prompt: Prompt
        /// The terminal's settings before and during the prompt.
        let before: termios
        let quiet: termios
        /// The terminal, and the descriptor that can interrupt the prompt.
        let awaited: [Polling.Interest]
    }

    // The kernel edits the line; its bytes arrive when Return is pressed.
    private func read(
        into answer: inout OutputSpan<UInt8>, _ question: Question, signals: borrowing SignalQueue
    ) throws(TerminalError) -> PromptOutcome {
        let start = answer.count
        while true {
            let ready = try TerminalError.system(
                in: signals.wait(
                    for: question.awaited, timeout: question.prompt.deadline?.timeRemaining))
            if let signal = try TerminalError.system(in: signals.next()) {
                try apply(question.before, flushing: true)
                try write("\n")
                question.prompt.beforeSignal(signal)
                guard signal == .stop else {
                    try TerminalError.system(in: signals.postpone(signal))
                    throw .interrupted
                }
                try TerminalError.system(in: signals.deliver(signal))
                answer.removeLast(answer.count - start)
                try apply(question.quiet, flushing: true)
                try write(question.prompt.text)
            } else if ready.dropFirst().contains(true) {
                return .overtaken
            } else if ready[0] {
                if try takeLine(into: &answer, start: start) { return .answered }
            } else if question.prompt.deadline?.timeRemaining == .zero {
                return .timedOut
            }
        }
    }

    /// Reads the available bytes.
    ///
    /// Returns whether the line is complete.
    private func takeLine(into answer: inout OutputSpan<UInt8>, start: Int) throws(TerminalError)
        -> Bool
    {
        guard answer.freeCapacity > 0 else { throw .tooLong }
        guard try TerminalError.system(in: descriptor.read(into: &answer)) > 0 else {
            // Ctrl-D at the start of a line; a terminal that was hung up also reads as ended.
            guard answer.count > start else { throw .ended }
            return true
        }
        guard answer.span[answer.count - 1] == UInt8(ascii: "\n") else { return false }
        _ = answer.removeLast()
        return true
    }
}
