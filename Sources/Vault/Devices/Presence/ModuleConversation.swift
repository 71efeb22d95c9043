internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

/// One run of the program that runs the PAM modules, with the person at the terminal.
final class ModuleConversation {
    /// Whether a question was answered, or a module reported an error.
    var mayHaveBeenAttempted: Bool { dialogue.mayHaveBeenAttempted }

    private var dialogue = ModuleDialogue()
    private let helper: HelperProcess
    private let signals: SignalQueue
    private let terminal: ModuleTerminal
    private let deadline: Moment

    private static let limits = HelperProcess.Limits(
        greeting: ModuleFrame.largestFrame, frame: ModuleFrame.largestFrame,
        outgoing: 4 + ModuleAnswer.largestFrame)

    /// Starts the program at `path`; the whole conversation may last until `deadline`.
    init(
        running path: String, purpose: String, until deadline: Moment
    ) throws(PAMCheckFailure.Reason) {
        self.deadline = deadline
        terminal = ModuleTerminal(purpose: purpose, until: deadline)
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
            case .greeting(let frame): try dialogue.greet(frame)
            case .frame(let frame):
                switch try dialogue.step(frame) {
                case .show(let text): try terminal.show(text)
                case .ask(let text, let isEchoed): try ask(text, isEchoed: isEchoed)
                case .end(let isPresent): return isPresent
                }
            }
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

    private func ask(_ text: String, isEchoed: Bool) throws(PAMCheckFailure.Reason) {
        var outcome = Terminal.PromptOutcome.timedOut
        // The line ending needs a byte until it is removed.
        let answer = try SecretBytes(capacity: ModuleFrame.longestAnswer + 1) {
            output throws(PAMCheckFailure.Reason) in
            outcome = try terminal.ask(
                text, isEchoed: isEchoed, unless: helper.readable, into: &output,
                beforeSignal: endHelper)
        }
        switch outcome {
        case .timedOut: throw .timedOut
        // The program did not wait for the answer: it has ended or has broken the protocol.
        case .overtaken: return
        case .answered: try send(answer)
        }
    }

    private func send(_ answer: SecretBytes) throws(PAMCheckFailure.Reason) {
        dialogue.noteAnswer()
        // Sent or not, the answer is wiped.
        defer { helper.removeOutgoing() }
        // The pipe is empty while the program waits for an answer, so it takes the whole answer. If
        // it does not, the program has ended or has broken the protocol, which the next frame will
        // show.
        do throws(SystemCallFailure) {
            try helper.appendFrame(answer)
            _ = try helper.flush()
        } catch {
            throw .system(error)
        }
    }
}
