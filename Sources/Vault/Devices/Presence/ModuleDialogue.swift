internal import WatchwordCoding
package import WatchwordCryptography
package import WatchwordSystem

/// Interprets and limits the messages from the program that runs the modules.
struct ModuleDialogue {
    /// The next step of the conversation.
    enum Step {
        case show(String)
        /// Ask a question, and send the answer.
        case ask(String, isEchoed: Bool)
        /// The modules have decided.
        case end(isPresent: Bool)
    }

    /// Whether a question was answered, or a module reported an error.
    private(set) var mayHaveBeenAttempted = false
    /// Whether the modules have an answer from the person.
    private(set) var isAnswered = false
    private var remarkCount = 0
    private var remarkBytes = 0

    /// The maximum number of messages, and of bytes of text in total.
    private static let mostRemarks = 100
    private static let mostRemarkBytes = 1 << 14

    /// Reads the program's first frame.
    func greet(_ frame: WipedBuffer) throws(PAMCheckFailure) {
        guard case .ready(let version) = try parse(frame) else { throw PAMCheckFailure(.nonsense) }
        guard version == ModuleFrame.version else { throw PAMCheckFailure(.otherVersion) }
    }

    /// Reads a later frame.
    mutating func step(_ frame: WipedBuffer) throws(PAMCheckFailure) -> Step {
        switch try parse(frame) {
        case .ready: throw PAMCheckFailure(.nonsense)
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

    private func parse(_ frame: WipedBuffer) throws(PAMCheckFailure) -> ModuleFrame {
        guard let frame = frame.value(as: ModuleFrame.self) else {
            throw PAMCheckFailure(.nonsense)
        }
        return frame
    }

    private mutating func isYes(_ verdict: ModuleVerdict) throws(PAMCheckFailure) -> Bool {
        switch verdict {
        case .granted: return true
        case .denied: return false
        case .failed(.failed(let failure)) where isAnswered && failure.cause != .moduleNotLoaded:
            // One module may have refused the answer before another module failed, so the answer
            // counts as a guess, unless a module could not run at all.
            return false
        case .failed(let reason):
            // The user was authenticated, so this was not an attempt to guess.
            if case .accountRefused = reason { mayHaveBeenAttempted = false }
            throw PAMCheckFailure(reason)
        }
    }

    /// Counts the modules' messages: a flood must neither fill the screen nor keep this process
    /// busy.
    private mutating func count(_ text: String) throws(PAMCheckFailure) {
        remarkCount += 1
        remarkBytes += text.utf8.count
        guard remarkCount <= ModuleDialogue.mostRemarks,
            remarkBytes <= ModuleDialogue.mostRemarkBytes
        else { throw PAMCheckFailure(.talksTooMuch) }
    }
}

/// Relays messages between the system's modules, which run in another process, and the user of a
/// client.
package final class ModuleRelay {
    /// Whether a question was answered, or a module reported an error.
    package var mayHaveBeenAttempted: Bool { dialogue.mayHaveBeenAttempted }

    private var dialogue = ModuleDialogue()
    private let program: FileDescriptor
    private let deadline: Moment

    /// The longest answer in bytes.
    package static let longestAnswer = ModuleFrame.longestAnswer
    /// The time that the modules have for their verdict after an answer; they may delay the
    /// verdict.
    static let timeForVerdict = Duration.seconds(5)

    /// - Parameter program: the connection to `watchword-presence`.
    package init(
        _ program: borrowing FileDescriptor, until deadline: Moment
    ) throws(PAMCheckFailure) {
        self.program = try PAMCheckFailure.system(in: program.duplicate())
        self.deadline = deadline
    }

    /// Passes messages between the modules and the person until there is a verdict: yes or no.
    ///
    /// Once the modules have an answer, they decide, even if the person leaves: otherwise an
    /// attacker could guess and leave before the refusal. Further questions then get an empty
    /// answer.
    ///
    /// - Parameters:
    ///   - person: becomes ready when the person's program ends while nothing is asked; `nil` if
    ///     this is that program.
    ///   - show: shows a message.
    ///   - ask: asks a question until this moment, and returns the answer of at most
    ///     ``longestAnswer`` bytes.
    package func verdict(
        unless person: Polling.Interest?,
        showing show: (String) throws(PAMCheckFailure) -> Void,
        asking ask: (String, Bool, Moment) throws(PAMCheckFailure) -> SecretBytes
    ) throws(PAMCheckFailure) -> Bool {
        let lastAnswer = Moment.now + (deadline.timeRemaining - ModuleRelay.timeForVerdict)
        try dialogue.greet(next(unless: person))
        while true {
            switch try dialogue.step(next(unless: dialogue.isAnswered ? nil : person)) {
            case .show(let text):
                do { try show(text) } catch { guard dialogue.isAnswered else { throw error } }
            case .ask(let text, let isEchoed):
                var answer = SecretBytes(capacity: 0) { _ in }
                do { answer = try ask(text, isEchoed, lastAnswer) } catch {
                    guard dialogue.isAnswered else { throw error }
                }
                dialogue.noteAnswer()
                do { try FrameWriter(answer).write(to: program) } catch {
                    // If the program has ended, the next frame will show it.
                    guard error.isConnectionLost else { throw PAMCheckFailure(.system(error)) }
                }
            case .end(let isPresent): return isPresent
            }
        }
    }

    /// The program's next frame.
    private func next(
        unless person: Polling.Interest?
    ) throws(PAMCheckFailure) -> WipedBuffer {
        var incoming = try PAMCheckFailure.system(
            in: IncomingFrame(limit: ModuleFrame.largestFrame))
        while true {
            // A verdict that comes too late does not count either.
            guard deadline.timeRemaining > .zero else { throw PAMCheckFailure(.timedOut) }
            switch try PAMCheckFailure.system(in: incoming.advance(from: program)) {
            case .complete(let frame): return frame
            case .ended: throw PAMCheckFailure(.ended(.unknown))
            case .bad: throw PAMCheckFailure(.nonsense)
            case .wouldWait: break
            }
            let ready = try PAMCheckFailure.system(
                in: Polling.ready(
                    of: [.reading(program)] + [person].compactMap { $0 },
                    timeout: deadline.timeRemaining))
            if !ready[0], ready.contains(true) { throw PAMCheckFailure(.cancelled) }
        }
    }
}
