import Cryptography
import POSIX
import PresenceDevices
import VaultAgent

/// Shows the modules' messages, which the agent passes on, and answers their questions.
final class RelayedQuestions {
    /// Why a question was not answered.
    private(set) var failure: PAMCheckFailure.Reason?

    private let terminal: ModuleTerminal
    private let client: AgentClient

    /// The modules' own timeout is the same.
    private static let timeout = Duration.seconds(60)

    init(purpose: String, from client: AgentClient) {
        terminal = ModuleTerminal(purpose: purpose, until: .now + RelayedQuestions.timeout)
        self.client = client
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
}
