import Devices
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// Shows the messages of the system's modules, which the agent passes on, and answers their questions
/// and a TPM's.
final class RelayedQuestions {
    /// Why a module's question was not answered.
    private var failure: PAMCheckFailure.Reason?
    /// Why a TPM got no PIN.
    private(set) var failureOfPIN: (any Error)?

    private let terminal: ModuleTerminal
    /// Becomes ready when the answer to a question is no longer needed.
    private let end: Polling.Interest?
    private let session: Session

    /// The modules' own timeout is the same.
    private static let timeout = Duration.seconds(60)

    init(purpose: String, until end: Polling.Interest?, session: Session) {
        terminal = ModuleTerminal(purpose: purpose, until: .now + RelayedQuestions.timeout)
        self.end = end
        self.session = session
    }

    /// Shows a message, or asks a question.
    ///
    /// - Returns: what to send as the answer.
    func answer(_ message: AgentResponse) -> AgentRequest? {
        do throws(PAMCheckFailure.Reason) {
            switch message {
            case .says(let text):
                try terminal.show(text)
                return nil
            case .asks(let text, let isEchoed): return try ask(text, isEchoed: isEchoed)
            case .asksPIN(let isRepeated, let left):
                return askPIN(isRepeated: isRepeated, left: left)
            default: return nil
            }
        } catch {
            failure = error
            return .cancel
        }
    }

    /// The failure of a check, with the reason in this process if there is one.
    func explained(_ failure: PAMCheckFailure) -> PAMCheckFailure {
        PAMCheckFailure(
            reason: self.failure ?? failure.reason, mayConcealAttempt: failure.mayConcealAttempt)
    }

    private func ask(
        _ text: String, isEchoed: Bool
    ) throws(PAMCheckFailure.Reason) -> AgentRequest? {
        var outcome = Terminal.PromptOutcome.timedOut
        // One more byte for the line ending, which is removed.
        let answer = try SecretBytes(capacity: ModuleRelay.longestAnswer + 1) {
            output throws(PAMCheckFailure.Reason) in
            outcome = try terminal.ask(text, isEchoed: isEchoed, unless: end, into: &output)
        }
        switch outcome {
        case .answered: return .answer(answer)
        case .timedOut: throw .timedOut
        // The modules did not wait for the answer.
        case .overtaken: return nil
        }
    }

    private func askPIN(isRepeated: Bool, left: UInt64?) -> AgentRequest? {
        var person = TokenPerson(session: session, token: .tpm, purpose: nil, unless: end)
        let pin = person.pin(isRepeated: isRepeated, left: left.map { UInt32(clamping: $0) })
        failureOfPIN = person.failure
        // Nobody waited for the answer.
        if person.wasOvertaken { return nil }
        return pin.map(AgentRequest.answer) ?? .cancel
    }
}
