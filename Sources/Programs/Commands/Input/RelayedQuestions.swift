import Devices
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// Shows the messages of the system's modules, which the agent passes on, and answers their questions
/// and a TPM's.
final class RelayedQuestions {
    /// Why a module's question was not answered.
    private(set) var failure: PAMCheckFailure.Reason?
    /// Why a TPM got no PIN.
    private(set) var failureOfPIN: CommandFailure?

    private let terminal: ModuleTerminal
    private let client: AgentClient
    private let session: Session

    /// The modules' own timeout is the same.
    private static let timeout = Duration.seconds(60)

    init(purpose: String, from client: AgentClient, session: Session) {
        terminal = ModuleTerminal(purpose: purpose, until: .now + RelayedQuestions.timeout)
        self.client = client
        self.session = session
    }

    /// Shows a message, or asks a question.
    ///
    /// - Returns: what to send to the agent.
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

    private func ask(
        _ text: String, isEchoed: Bool
    ) throws(PAMCheckFailure.Reason) -> AgentRequest? {
        var outcome = Terminal.PromptOutcome.timedOut
        // One more byte for the line ending, which is removed.
        let answer = try SecretBytes(capacity: ModuleRelay.longestAnswer + 1) {
            output throws(PAMCheckFailure.Reason) in
            outcome = try terminal.ask(
                text, isEchoed: isEchoed, unless: client.readable, into: &output)
        }
        switch outcome {
        case .answered: return .answer(answer)
        case .timedOut: throw .timedOut
        // The modules did not wait for the answer.
        case .overtaken: return nil
        }
    }
    private func askPIN(isRepeated: Bool, left: UInt64?) -> AgentRequest? {
        var person = TokenPerson(
            session: session, token: .tpm, purpose: nil, unless: client.readable)
        let pin = person.pin(isRepeated: isRepeated, left: left.map { UInt32(clamping: $0) })
        failureOfPIN = person.failure
        // The agent did not wait for the answer.
        if person.wasOvertaken { return nil }
        return pin.map(AgentRequest.answer) ?? .cancel
    }
}
