import Devices
import LocalEnrolment
import WatchwordCryptography
import WatchwordSystem

/// A conversation with the server about the user's own credentials.
final class ServerConversation {
    /// The result that the server sends.
    enum Result {
        case credentials([OwnCredential])
        case key(SecretBytes)
        case recoveryCodes([SecretBytes])
    }

    static let standardPath = "/run/watchword/enrol"

    private let path: String
    private let file: FileDescriptor
    private let frames: FrameConnection

    /// The time limit for a decision of the server.
    private static let timeout = Duration.seconds(60)
    /// The time limit for the modules, including the user's answers.
    private static let timeoutOfModules = Duration.seconds(60)
    /// The longest answer in bytes, with its line ending.
    private static let longestAnswer = 256

    /// Connects to the server.
    ///
    /// - Parameter path: the server's socket; `nil` for the usual place.
    init(_ path: String?) throws {
        self.path = path ?? Self.standardPath
        do throws(SystemCallFailure) {
            let connected = try LocalSocket.connect(to: self.path)
            frames = FrameConnection(try connected.duplicate())
            file = connected
        } catch {
            throw EnrolFailure.socket(self.path, error)
        }
        // Only root can put a socket there, so no other program can ask for the login password.
        guard path != nil || SystemFolder.isRoots("/run/watchword") else {
            throw EnrolFailure.notTheServer(self.path)
        }
    }

    /// Has the server perform a task, and answers its questions.
    func perform(_ task: EnrolmentTask, showing show: (Result) throws -> Void) throws {
        try send(.begin(version: EnrolmentRequest.version, task))
        while true {
            switch try receive() {
            case .asks(let question, let isRepeated):
                try send(.answer(answer(to: question, isRepeated: isRepeated)))
            case .checksPassword: try answerModules()
            case .credentials(let credentials): try show(.credentials(credentials))
            case .key(let uri): try show(.key(uri))
            case .recoveryCodes(let codes): try show(.recoveryCodes(codes))
            case .done: return
            case .refused(let refusal): throw EnrolFailure.refused(refusal)
            }
        }
    }

    /// Lets the modules ask for the login password; the server gets the verdict from the modules,
    /// and continues.
    private func answerModules() throws {
        let deadline = Moment.now + Self.timeoutOfModules
        let terminal = ModuleTerminal(
            purpose: "To add your first authenticator, enter your login password.", until: deadline)
        do throws(PAMCheckFailure) {
            _ = try ModuleRelay(file, until: deadline).verdict(unless: nil) {
                text throws(PAMCheckFailure) in
                try terminal.show(text)
            } asking: { text, isEchoed, _ throws(PAMCheckFailure) in
                var outcome = Terminal.PromptOutcome.timedOut
                let answer = try SecretBytes(capacity: ModuleRelay.longestAnswer + 1) {
                    output throws(PAMCheckFailure) in
                    outcome = try terminal.ask(
                        text, isEchoed: isEchoed, unless: frames.readable, into: &output)
                }
                guard case .answered = outcome else { throw PAMCheckFailure(.timedOut) }
                return answer
            }
        } catch {
            switch error.reason {
            case .noTerminal: throw EnrolFailure.terminal(.none)
            case .answerTooLong: throw EnrolFailure.terminal(.tooLong)
            case .terminal(let failure): throw EnrolFailure.terminal(.system(failure))
            case .cancelled, .timedOut: throw EnrolFailure.noAnswer
            case .ended: throw EnrolFailure.socket(path, .connectionLost)
            // The modules were not started, or failed. The server's message about this may have
            // been mistaken for a message of the modules.
            default: throw EnrolFailure.refused(.noPasswordCheck)
            }
        }
    }

    private func answer(to question: EnrolmentQuestion, isRepeated: Bool) throws -> SecretBytes {
        var outcome = Terminal.PromptOutcome.timedOut
        let text = EnrolMessages.prompt(for: question, isRepeated: isRepeated)
        // A ticket has been spent at this point.
        let unconfirmed = question == .firstCode ? EnrolFailure.refused(.notConfirmed) : nil
        let answer: SecretBytes
        do {
            let terminal = try Terminal()
            answer = try SecretBytes(capacity: Self.longestAnswer) {
                output throws(TerminalError) in
                outcome = try terminal.ask(
                    Terminal.Prompt(
                        text, isEchoed: question == .firstCode, unless: frames.readable),
                    into: &output)
            }
        } catch {
            guard let unconfirmed, [.ended, .interrupted].contains(error) else {
                throw EnrolFailure.terminal(error)
            }
            throw unconfirmed
        }
        // The server no longer waits for the answer.
        guard case .answered = outcome else { throw unconfirmed ?? .noAnswer }
        return answer
    }

    private func send(_ request: EnrolmentRequest) throws {
        do throws(SystemCallFailure) {
            // If the server has closed the connection, it may have sent the reason.
            try SystemCallFailure.nilIf(
                \.isConnectionLost, frames.send(FrameWriter(request), timeout: Self.timeout))
        } catch {
            throw EnrolFailure.socket(path, error)
        }
    }

    private func receive() throws -> EnrolmentResponse {
        do throws(SystemCallFailure) {
            let received = try frames.receive(
                limit: EnrolmentResponse.largest, idleTime: Self.timeout, timeout: Self.timeout)
            guard case .frame(let frame) = received,
                let response = frame.value(as: EnrolmentResponse.self)
            else { throw .connectionLost }
            return response
        } catch {
            throw EnrolFailure.socket(path, error)
        }
    }
}
