internal import POSIX

/// One run of the program that runs the modules, with the person at the terminal.
final class ModuleConversation {
    /// Whether a question was answered, or a module found fault with something.
    private(set) var mayHaveBeenAttempted = false

    private let child: ChildProcess
    private let signals: SignalQueue
    private let purpose: String
    private let deadline: Moment
    private var incoming: IncomingFrame
    private var isReady = false
    private var remarkCount = 0
    private var remarkBytes = 0
    private var hasShownPurpose = false

    /// More remarks than this, or longer ones taken together, nobody reads.
    private static let mostRemarks = 100
    private static let mostRemarkBytes = 1 << 14

    /// Starts the program at `path`; everything together may last until `deadline`.
    init(
        running path: String, purpose: String, until deadline: Moment
    ) throws(PAMCheckFailure.Reason) {
        self.purpose = purpose
        self.deadline = deadline
        do throws(SystemCallFailure) {
            incoming = try IncomingFrame(limit: ModuleFrame.largestFrame)
            // From here on a Ctrl-C ends what was started first, and us when nobody holds it back.
            signals = try SignalQueue([.interrupt, .terminate, .hangUp, .quit, .stop])
            child = try ChildProcess(running: path)
        } catch {
            throw error.isMissingFile ? .programNotFound : .system(error)
        }
    }

    // Nothing of it outlives the conversation, whatever became of it.
    deinit { child.end(includingItsOwn: true) }

    /// Lets the modules and the person talk until there is a verdict: yes or no.
    func verdict() throws(PAMCheckFailure.Reason) -> Bool {
        while true {
            guard deadline.timeAhead > .zero else { throw .timedOut }
            switch try receive() {
            case .wouldWait: try wait()
            case .bad: throw .nonsense
            case .ended: throw .ended(child.end(includingItsOwn: true).0)
            case .complete(let frame):
                guard let frame = frame.withBytes({ ModuleFrame(parsing: $0) }) else {
                    throw .nonsense
                }
                if let verdict = try heed(frame) { return try isYes(verdict) }
            }
        }
    }

    private func heed(_ frame: ModuleFrame) throws(PAMCheckFailure.Reason) -> ModuleVerdict? {
        guard isReady else {
            guard case .ready(let version) = frame else { throw .nonsense }
            guard version == ModuleFrame.version else { throw .otherVersion }
            isReady = true
            return nil
        }
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
            // It was the right person: nothing was guessed.
            mayHaveBeenAttempted = false
            throw .accountRefused(failure)
        case .failed(let failure): throw .failed(failure)
        }
    }
}

extension ModuleConversation {
    private func receive() throws(PAMCheckFailure.Reason) -> IncomingFrame.Progress {
        do throws(SystemCallFailure) {
            let progress = try incoming.advance(from: child.output)
            if case .complete = progress {
                incoming = try IncomingFrame(limit: ModuleFrame.largestFrame)
            }
            return progress
        } catch {
            throw .system(error)
        }
    }

    /// Waits for the program to say something, and sees to the signals meanwhile.
    private func wait() throws(PAMCheckFailure.Reason) {
        do throws(SystemCallFailure) {
            _ = try signals.wait(
                for: [.reading(child.output)], timeout: deadline.timeAhead)
            let signal = try signals.next()
            switch signal {
            case nil: return
            case .stop: return try signals.deliver(.stop)
            case .some(let signal):
                endChild(before: signal)
                try signals.postpone(signal)
            }
        } catch {
            throw .system(error)
        }
        // Who lives on, because he ignores the signal, has cancelled all the same.
        throw .cancelled
    }

    private func endChild(before signal: SignalQueue.Signal) {
        if signal != .stop { child.end(includingItsOwn: true) }
    }

    /// Counts what the modules say: a flood must neither fill the screen nor keep us busy.
    private func count(_ text: String) throws(PAMCheckFailure.Reason) {
        remarkCount += 1
        remarkBytes += text.utf8.count
        guard remarkCount <= ModuleConversation.mostRemarks,
            remarkBytes <= ModuleConversation.mostRemarkBytes
        else { throw .talksTooMuch }
    }

    /// Shows a module's remark; without a terminal there is nobody to read it.
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
        let answer: WipedBuffer
        do throws(SystemCallFailure) {
            // The count, the kind, the answer, and the line end that is taken off again.
            answer = try WipedBuffer(capacity: 5 + ModuleFrame.longestAnswer + 1)
        } catch {
            throw .system(error)
        }
        answer.append { output in for _ in 0..<5 { output.append(0) } }
        let outcome: Terminal.PromptOutcome
        do throws(TerminalError) {
            let terminal = try Terminal()
            try showPurpose(on: terminal)
            outcome = try answer.append { (output) throws(TerminalError) in
                try terminal.ask(
                    ModuleConversation.fit(text), echo: isEchoed, until: deadline,
                    unless: .reading(child.output), into: &output, beforeSignal: endChild)
            }
        } catch {
            throw PAMCheckFailure.Reason(error)
        }
        switch outcome {
        case .timedOut: throw .timedOut
        // It has not waited for the answer: it is gone, or breaks the rules.
        case .overtaken: return
        case .answered: try send(answer)
        }
    }

    private func send(_ answer: WipedBuffer) throws(PAMCheckFailure.Reason) {
        mayHaveBeenAttempted = true
        let count = UInt32(answer.count - 4)
        let header = (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
        answer.replace(from: 0, with: (header + [ModuleFrame.answer]).span)
        do throws(SystemCallFailure) {
            let progress = try answer.withBytes { (bytes) throws(SystemCallFailure) in
                try child.input.writeAvailable(bytes)
            }
            // The pipe is empty when the other side waits for an answer, and takes this one whole. Where it
            // does not, the other side is gone or breaks the rules, which the next frame will show.
            guard case .moved(answer.count) = progress else { return }
        } catch {
            throw .system(error)
        }
    }

    private func showPurpose(on terminal: borrowing Terminal) throws(TerminalError) {
        guard !hasShownPurpose, !purpose.isEmpty else { return }
        try terminal.write(purpose.visibleOnTerminal + "\n")
        hasShownPurpose = true
    }

    /// A module's text as it may stand on a terminal: it may have lines, and nothing else that steers.
    private static func fit(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in String(line.map { $0 == "\t" ? " " : $0 }).visibleOnTerminal }
            .joined(separator: "\n")
    }
}
