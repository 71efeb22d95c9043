internal import POSIX

/// One run of the program that runs the PAM modules, with the person at the terminal.
final class ModuleConversation {
    /// Whether a question was answered, or a module reported an error.
    private(set) var mayHaveBeenAttempted = false

    private let helper: HelperProcess
    private let signals: SignalQueue
    private let purpose: String
    private let deadline: Moment
    private var remarkCount = 0
    private var remarkBytes = 0
    private var hasShownPurpose = false

    /// Nobody reads more messages than this, or more text in total.
    private static let mostRemarks = 100
    private static let mostRemarkBytes = 1 << 14

    /// An answer's frame: its count, its kind, the answer, and the line ending, which is removed
    /// afterwards.
    private static let limits = HelperProcess.Limits(
        greeting: ModuleFrame.largestFrame, frame: ModuleFrame.largestFrame,
        outgoing: 5 + ModuleFrame.longestAnswer + 1)

    /// Starts the program at `path`; the whole conversation may last until `deadline`.
    init(
        running path: String, purpose: String, until deadline: Moment
    ) throws(PAMCheckFailure.Reason) {
        self.purpose = purpose
        self.deadline = deadline
        do throws(SystemCallFailure) {
            // From here on, Ctrl-C first ends the program that is started here, then this process.
            signals = try SignalQueue([.interrupt, .terminate, .hangUp, .quit, .stop])
        } catch {
            throw .system(error)
        }
        do throws(HelperFailure) {
            // Programs that the modules start are killed with the helper: nothing outlives the
            // conversation.
            helper = try HelperProcess(
                running: path, limits: ModuleConversation.limits, timeout: deadline.timeRemaining,
                killsGroup: true)
        } catch {
            throw PAMCheckFailure.Reason(error)
        }
    }

    /// Passes messages between the modules and the person until there is a verdict: yes or no.
    func verdict() throws(PAMCheckFailure.Reason) -> Bool {
        while true {
            guard deadline.timeRemaining > .zero else { throw .timedOut }
            switch try receive() {
            case .wouldWait: try wait()
            case .malformed: throw .nonsense
            case .ended: throw .ended(helper.end().0)
            case .greeting(let frame): try greet(try parse(frame))
            case .frame(let frame):
                if let verdict = try handle(try parse(frame)) { return try isYes(verdict) }
            }
        }
    }

    private func parse(_ frame: WipedBuffer) throws(PAMCheckFailure.Reason) -> ModuleFrame {
        guard let frame = frame.withBytes({ ModuleFrame(parsing: $0) }) else { throw .nonsense }
        return frame
    }

    private func greet(_ frame: ModuleFrame) throws(PAMCheckFailure.Reason) {
        guard case .ready(let version) = frame else { throw .nonsense }
        guard version == ModuleFrame.version else { throw .otherVersion }
    }

    private func handle(_ frame: ModuleFrame) throws(PAMCheckFailure.Reason) -> ModuleVerdict? {
        switch frame {
        case .ready: throw .nonsense
        case .verdict(let verdict): return verdict
        case .says(let text, let isError):
            mayHaveBeenAttempted = mayHaveBeenAttempted || isError
            try count(text)
            try show(text)
        case .asks(let text, let isEchoed):
            try count(text)
            try ask(text, isEchoed: isEchoed)
        }
        return nil
    }

    private func isYes(_ verdict: ModuleVerdict) throws(PAMCheckFailure.Reason) -> Bool {
        switch verdict {
        case .granted: return true
        case .denied: return false
        case .noServiceFile: throw .noServiceFile
        case .noUserName: throw .noUserName
        case .accountRefused(let failure):
            // The user was authenticated, so this was not an attempt to guess.
            mayHaveBeenAttempted = false
            throw .accountRefused(failure)
        case .failed(let failure): throw .failed(failure)
        }
    }
}

extension ModuleConversation {
    private func receive() throws(PAMCheckFailure.Reason) -> HelperProcess.Received {
        do { return try helper.receive() } catch { throw .system(error) }
    }

    /// Waits for the program while handling signals.
    private func wait() throws(PAMCheckFailure.Reason) {
        do throws(SystemCallFailure) {
            _ = try signals.wait(
                for: [helper.readable], timeout: deadline.timeRemaining)
            let signal = try signals.next()
            switch signal {
            case nil: return
            case .stop: return try signals.deliver(.stop)
            case .some(let signal):
                endHelper(before: signal)
                try signals.postpone(signal)
            }
        } catch {
            throw .system(error)
        }
        // If this process ignores the signal and survives, the check is cancelled all the same.
        throw .cancelled
    }

    private func endHelper(before signal: SignalQueue.Signal) {
        if signal != .stop { helper.end() }
    }

    /// Counts the modules' messages: a flood must neither fill the screen nor keep this process
    /// busy.
    private func count(_ text: String) throws(PAMCheckFailure.Reason) {
        remarkCount += 1
        remarkBytes += text.utf8.count
        guard remarkCount <= ModuleConversation.mostRemarks,
            remarkBytes <= ModuleConversation.mostRemarkBytes
        else { throw .talksTooMuch }
    }

    /// Shows a module's message; without a terminal there is nobody to read it.
    private func show(_ text: String) throws(PAMCheckFailure.Reason) {
        do throws(TerminalError) {
            let terminal = try Terminal()
            try showPurpose(on: terminal)
            try terminal.write(ModuleConversation.fit(text) + "\n")
        } catch .none {
            return
        } catch {
            throw PAMCheckFailure.Reason(error)
        }
    }

    private func ask(_ text: String, isEchoed: Bool) throws(PAMCheckFailure.Reason) {
        // Sent or not, the answer is wiped.
        defer { helper.removeOutgoing() }
        let outcome: Terminal.PromptOutcome
        do throws(TerminalError) {
            let terminal = try Terminal()
            try showPurpose(on: terminal)
            outcome = try helper.appendFrame { (frame) throws(TerminalError) in
                frame.append([ModuleFrame.answer])
                return try frame.append { (output) throws(TerminalError) in
                    try terminal.ask(
                        ModuleConversation.fit(text), echo: isEchoed, until: deadline,
                        unless: helper.readable, into: &output, beforeSignal: endHelper)
                }
            }
        } catch {
            throw PAMCheckFailure.Reason(error)
        }
        switch outcome {
        case .timedOut: throw .timedOut
        // The program did not wait for the answer: it has ended or has broken the protocol.
        case .overtaken: return
        case .answered: try sendAnswer()
        }
    }

    private func sendAnswer() throws(PAMCheckFailure.Reason) {
        mayHaveBeenAttempted = true
        // The pipe is empty while the program waits for an answer, so it takes the whole answer. If
        // it does not, the program has ended or has broken the protocol, which the next frame will
        // show.
        do { _ = try helper.flush() } catch { throw .system(error) }
    }

    private func showPurpose(on terminal: borrowing Terminal) throws(TerminalError) {
        guard !hasShownPurpose, !purpose.isEmpty else { return }
        try terminal.write(purpose.visibleOnTerminal + "\n")
        hasShownPurpose = true
    }

    /// A module's text, made safe for a terminal: line breaks are the only control characters left.
    private static func fit(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in String(line.map { $0 == "\t" ? " " : $0 }).visibleOnTerminal }
            .joined(separator: "\n")
    }
}
