package import WatchwordSystem

/// Interprets and limits the messages from the program that runs the modules.
struct ModuleDialogue {
    /// What to do next.
    enum Step {
        /// Show a message.
        case show(String)
        /// Ask a question, and send the answer.
        case ask(String, isEchoed: Bool)
        /// The modules have decided.
        case end(isPresent: Bool)
    }

    /// Whether a question was answered, or a module reported an error.
    private(set) var mayHaveBeenAttempted = false
    /// Whether the modules have an answer of the person.
    private(set) var isAnswered = false
    private var remarkCount = 0
    private var remarkBytes = 0

    /// The maximum number of messages, and of bytes of text in total.
    private static let mostRemarks = 100
    private static let mostRemarkBytes = 1 << 14

    /// Reads the program's first frame.
    func greet(_ frame: WipedBuffer) throws(PAMCheckFailure.Reason) {
        guard case .ready(let version) = try parse(frame) else { throw .nonsense }
        guard version == ModuleFrame.version else { throw .otherVersion }
    }

    /// Reads a later frame.
    mutating func step(_ frame: WipedBuffer) throws(PAMCheckFailure.Reason) -> Step {
        switch try parse(frame) {
        case .ready: throw .nonsense
        case .verdict(let verdict): return .end(isPresent: try isYes(verdict))
        case .says(let text, let isError):
            mayHaveBeenAttempted = mayHaveBeenAttempted || isError
            try count(text)
            return .show(text)
        case .asks(let text, let isEchoed):
            try count(text)
            return .ask(text, isEchoed: isEchoed)
        }
    }

    /// Records that a question was answered.
    mutating func noteAnswer() {
        isAnswered = true
        mayHaveBeenAttempted = true
    }

    private func parse(_ frame: WipedBuffer) throws(PAMCheckFailure.Reason) -> ModuleFrame {
        guard let frame = frame.value(as: ModuleFrame.self) else { throw .nonsense }
        return frame
    }

    private mutating func isYes(_ verdict: ModuleVerdict) throws(PAMCheckFailure.Reason) -> Bool {
        switch verdict {
        case .granted: return true
        case .denied: return false
        case .noServiceFile: throw .noServiceFile
        case .noUserName: throw .noUserName
        case .accountRefused(let failure):
            // The user was authenticated, so this was not an attempt to guess.
            mayHaveBeenAttempted = false
            throw .accountRefused(failure)
        case .failed(let failure):
            // One module may have refused the answer, and another one failed: unless a module cannot
            // run at all, a guess counts.
            guard isAnswered, failure.cause != .moduleNotLoaded else { throw .failed(failure) }
            return false
        }
    }

    /// Counts the modules' messages: a flood must neither fill the screen nor keep this process
    /// busy.
    private mutating func count(_ text: String) throws(PAMCheckFailure.Reason) {
        remarkCount += 1
        remarkBytes += text.utf8.count
        guard remarkCount <= ModuleDialogue.mostRemarks,
            remarkBytes <= ModuleDialogue.mostRemarkBytes
        else { throw .talksTooMuch }
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

    /// Shows a message; without a terminal there is nobody to read it.
    package func show(_ text: String) throws(PAMCheckFailure.Reason) {
        do throws(TerminalError) {
            let terminal = try Terminal()
            try showPurpose(on: terminal)
            try terminal.write(ModuleTerminal.fit(text) + "\n")
        } catch .none {
            return
        } catch {
            throw PAMCheckFailure.Reason(error)
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
    ) throws(PAMCheckFailure.Reason) -> Terminal.PromptOutcome {
        do throws(TerminalError) {
            let terminal = try Terminal()
            try showPurpose(on: terminal)
            return try terminal.ask(
                ModuleTerminal.fit(text), echo: isEchoed, until: deadline, unless: other,
                into: &answer, beforeSignal: beforeSignal)
        } catch {
            throw PAMCheckFailure.Reason(error)
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
