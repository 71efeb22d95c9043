internal import WatchwordCoding
package import WatchwordCryptography
package import WatchwordSystem

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
    /// What an answer leaves to the modules for their verdict, which they may delay.
    static let timeForVerdict = Duration.seconds(5)

    /// - Parameter program: the connection to `watchword-presence`.
    package init(
        _ program: borrowing FileDescriptor, until deadline: Moment
    ) throws(PAMCheckFailure.Reason) {
        do { self.program = try program.duplicate() } catch { throw .system(error) }
        self.deadline = deadline
    }

    /// Passes messages between the modules and the person until there is a verdict: yes or no.
    ///
    /// Once the modules have an answer, they decide, whatever becomes of the person: nobody can guess
    /// and leave before the refusal. Further questions then get an empty answer.
    ///
    /// - Parameters:
    ///   - person: becomes ready when the person's program ends while nothing is asked.
    ///   - show: shows a message.
    ///   - ask: asks a question until this moment, and returns the answer of at most
    ///     ``longestAnswer`` bytes.
    package func verdict(
        unless person: Polling.Interest,
        showing show: (String) throws(PAMCheckFailure.Reason) -> Void,
        asking ask: (String, Bool, Moment) throws(PAMCheckFailure.Reason) -> SecretBytes
    ) throws(PAMCheckFailure.Reason) -> Bool {
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
                    guard error.isConnectionLost else { throw .system(error) }
                }
            case .end(let isPresent): return isPresent
            }
        }
    }

    /// The program's next frame.
    private func next(
        unless person: Polling.Interest?
    ) throws(PAMCheckFailure.Reason) -> WipedBuffer {
        var incoming: IncomingFrame
        do { incoming = try IncomingFrame(limit: ModuleFrame.largestFrame) } catch {
            throw .system(error)
        }
        while true {
            // A verdict that comes too late does not count either.
            guard deadline.timeRemaining > .zero else { throw .timedOut }
            let progress: IncomingFrame.Progress
            do { progress = try incoming.advance(from: program) } catch { throw .system(error) }
            switch progress {
            case .complete(let frame): return frame
            case .ended: throw .ended(.unknown)
            case .bad: throw .nonsense
            case .wouldWait: break
            }
            let ready: [Bool]
            do {
                ready = try Polling.ready(
                    of: [.reading(program)] + [person].compactMap { $0 },
                    timeout: deadline.timeRemaining)
            } catch {
                throw .system(error)
            }
            if !ready[0], ready.contains(true) { throw .cancelled }
        }
    }
}
