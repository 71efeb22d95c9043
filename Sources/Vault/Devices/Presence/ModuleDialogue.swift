internal import WatchwordSystem

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
