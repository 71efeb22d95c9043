internal import WatchwordCoding
internal import WatchwordCryptography
package import WatchwordSystem

/// Asks the system's modules, those of the PAM service `watchword`, whether the user is present: by
/// password, fingerprint, face or security key, depending on what the administrator configured in
/// the service file.
///
/// The modules run in `watchword-presence`, a separate process. Their messages and questions appear
/// on the terminal. Their verdict is advisory: anyone who controls the machine can fake it.
///
/// It must be used from one thread, which must outlive it: the kernel kills the process when that
/// thread ends.
public struct PAMCheck: PresenceCheck {
    /// A positive verdict comes from the system and yields no key.
    public typealias Grade = Advisory

    private let path: String?
    private let timeout: Duration

    /// Sets the program that runs the modules.
    ///
    /// - Parameters:
    ///   - path: The program; by default the one next to the running program, or else in the
    ///     installation folder (`../libexec/watchword/`).
    ///   - timeout: How long the whole check may take.
    public init(path: String? = nil, timeout: Duration = .seconds(60)) {
        self.path = path
        self.timeout = timeout
    }

    /// Asks once; `purpose` is shown before a module's first message.
    ///
    /// - Throws: ``PAMCheckFailure``; by then, the program and the programs that it started have
    ///   been killed, and the terminal has been restored.
    public func isPresent(for purpose: String) throws(PAMCheckFailure) -> Bool {
        guard let path = path ?? RunningProgram.companion("watchword-presence") else {
            throw PAMCheckFailure(.programNotFound)
        }
        let conversation = try ModuleConversation(
            running: path, purpose: purpose, until: .now + timeout)
        do throws(PAMCheckFailure) {
            return try conversation.verdict()
        } catch {
            throw PAMCheckFailure(
                error.reason, mayConcealAttempt: conversation.mayHaveBeenAttempted)
        }
    }
}

/// The PAM services that Watchword uses.
public enum PAMService {
    /// The name of the service file.
    public static let name = "watchword"
    /// The name of the service file with which users prove who they are before they enrol their
    /// first authenticator.
    ///
    /// It must ask for the login password, and must not accept anything that a program of the user
    /// can provide.
    public static let enrolment = "watchword-enrol"
    /// Where Linux-PAM looks for the service file: the administrator's folder, then the packages'
    /// folder.
    public static let folders = ["/etc/pam.d", "/usr/lib/pam.d"]

    /// Whether an administrator or a package has configured the modules.
    ///
    /// Without this file, Linux-PAM would ask the modules of the service `other`, which nobody
    /// chose for this purpose.
    public static func isInstalled(
        _ service: String = name, in folders: [String] = folders
    ) -> Bool {
        folders.contains { folder in
            // A file that cannot be inspected cannot be read either.
            do { return try FileKind(at: "\(folder)/\(service)", following: true) == .file } catch {
                return false
            }
        }
    }
}

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
    ) throws(PAMCheckFailure) {
        self.deadline = deadline
        terminal = ModuleTerminal(purpose: purpose, until: deadline)
        // From here on, Ctrl-C first ends the program that is started here, then this process.
        signals = try PAMCheckFailure.system(
            in: SignalQueue([.interrupt, .terminate, .hangUp, .quit, .stop]))
        do throws(HelperFailure) {
            // Programs that the modules start are killed with the helper: nothing outlives the
            // conversation.
            helper = try HelperProcess(
                running: path, limits: ModuleConversation.limits, timeout: deadline.timeRemaining,
                killsGroup: true)
        } catch {
            throw PAMCheckFailure(helper: error)
        }
    }

    /// Passes messages between the modules and the person until there is a verdict: yes or no.
    func verdict() throws(PAMCheckFailure) -> Bool {
        while true {
            guard deadline.timeRemaining > .zero else { throw PAMCheckFailure(.timedOut) }
            switch try PAMCheckFailure.system(in: helper.receive()) {
            case .wouldWait:
                // If this process ignores the signal and survives, the check is cancelled all the
                // same.
                guard try PAMCheckFailure.system(in: wait()) else {
                    throw PAMCheckFailure(.cancelled)
                }
            case .malformed: throw PAMCheckFailure(.nonsense)
            case .ended: throw PAMCheckFailure(.ended(helper.end().0))
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
    /// Waits for the program while handling signals.
    ///
    /// - Returns: whether the conversation goes on.
    private func wait() throws(SystemCallFailure) -> Bool {
        _ = try signals.wait(for: [helper.readable], timeout: deadline.timeRemaining)
        switch try signals.next() {
        case nil: return true
        case .stop:
            try signals.deliver(.stop)
            return true
        case .some(let signal):
            endHelper(before: signal)
            try signals.postpone(signal)
            return false
        }
    }

    private func endHelper(before signal: SignalQueue.Signal) {
        if signal != .stop { helper.end() }
    }

    private func ask(_ text: String, isEchoed: Bool) throws(PAMCheckFailure) {
        var outcome = Terminal.PromptOutcome.timedOut
        // The line ending needs a byte until it is removed.
        let answer = try SecretBytes(capacity: ModuleFrame.longestAnswer + 1) {
            output throws(PAMCheckFailure) in
            outcome = try terminal.ask(
                text, isEchoed: isEchoed, unless: helper.readable, into: &output,
                beforeSignal: endHelper)
        }
        switch outcome {
        case .timedOut: throw PAMCheckFailure(.timedOut)
        // The program did not wait for the answer: it has ended or has broken the protocol.
        case .overtaken: return
        case .answered: try PAMCheckFailure.system(in: send(answer))
        }
    }

    private func send(_ answer: SecretBytes) throws(SystemCallFailure) {
        dialogue.noteAnswer()
        // Sent or not, the answer is wiped.
        defer { helper.removeOutgoing() }
        // The pipe is empty while the program waits for an answer, so it takes the whole answer. If
        // it does not, the program has ended or has broken the protocol, which the next frame will
        // show.
        try helper.appendFrame(answer)
        _ = try helper.flush()
    }
}

/// Shows the modules' messages and questions to the person at the terminal.
package final class ModuleTerminal {
    private let purpose: String
    private let deadline: Moment
    private var hasShownPurpose = false

    /// - Parameters:
    ///   - purpose: shown before the first message.
    ///   - deadline: when a question is no longer answered.
    package init(purpose: String, until deadline: Moment) {
        self.purpose = purpose
        self.deadline = deadline
    }

    /// Shows a message; without a terminal, the message is discarded.
    package func show(_ text: String) throws(PAMCheckFailure) {
        do throws(TerminalError) {
            let terminal = try Terminal()
            try showPurpose(on: terminal)
            try terminal.write(ModuleTerminal.fit(text) + "\n")
        } catch {
            if case .none = error { return }
            throw PAMCheckFailure(terminal: error)
        }
    }

    /// Asks a question.
    ///
    /// - Parameters:
    ///   - other: becomes ready when the answer is no longer needed.
    ///   - beforeSignal: as for ``Terminal``.
    package func ask(
        _ text: String, isEchoed: Bool, unless other: Polling.Interest?,
        into answer: inout OutputSpan<UInt8>,
        beforeSignal: @escaping (SignalQueue.Signal) -> Void = { _ in }
    ) throws(PAMCheckFailure) -> Terminal.PromptOutcome {
        do throws(TerminalError) {
            let terminal = try Terminal()
            try showPurpose(on: terminal)
            let prompt = Terminal.Prompt(
                ModuleTerminal.fit(text), isEchoed: isEchoed, until: deadline, unless: other,
                beforeSignal: beforeSignal)
            return try terminal.ask(prompt, into: &answer)
        } catch {
            throw PAMCheckFailure(terminal: error)
        }
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
