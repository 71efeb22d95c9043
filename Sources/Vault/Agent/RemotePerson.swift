internal import Devices
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// The person at a client, who sees messages and answers questions.
struct RemotePerson {
    private let connection: FrameConnection

    /// How long a person may take to enter a PIN.
    private static let longestPINEntry = Duration.seconds(120)

    init(_ connection: FrameConnection) { self.connection = connection }

    /// Becomes ready when the client sends something unasked, or leaves.
    var leaving: Polling.Interest { connection.readable }

    func show(_ text: String) throws(PAMCheckFailure.Reason) { try send(.says(text)) }

    /// Asks a module's question, and returns the answer.
    ///
    /// - Parameter program: becomes ready when the program that asks has ended.
    func ask(
        _ text: String, isEchoed: Bool, for program: Polling.Interest, until deadline: Moment
    ) throws(PAMCheckFailure.Reason) -> SecretBytes {
        try send(.asks(text, isEchoed: isEchoed))
        let text = try answer(for: program, until: deadline)
        guard text.count <= ModuleRelay.longestAnswer else { throw .cancelled }
        return text
    }

    /// Asks for the PIN of a device key.
    ///
    /// - Parameters:
    ///   - left: how many more attempts the TPM allows, if it tells.
    ///   - end: becomes ready when the PIN is no longer needed.
    func askPIN(
        isRepeated: Bool, left: UInt32?, for end: Polling.Interest
    ) throws(PAMCheckFailure.Reason) -> SecretBytes {
        try send(.asksPIN(isRepeated: isRepeated, left: left.map(UInt64.init)))
        return try answer(for: end, until: .now + RemotePerson.longestPINEntry)
    }

    /// - Parameter end: becomes ready when the answer is no longer needed.
    private func answer(
        for end: Polling.Interest, until deadline: Moment
    ) throws(PAMCheckFailure.Reason) -> SecretBytes {
        let ready = try PAMCheckFailure.Reason.system(
            in: Polling.ready(of: [connection.readable, end], timeout: deadline.timeRemaining))
        if ready[1], !ready[0] { throw .ended(.unknown) }
        let received = try PAMCheckFailure.Reason.system(
            in: connection.receive(
                limit: AgentProtocol.largestAnswer, idleTime: deadline.timeRemaining,
                timeout: AgentProtocol.frameTimeout))
        switch received {
        case .ended, .malformed: throw .cancelled
        case .timedOut: throw .timedOut
        case .frame(let frame):
            guard case .success(.answer(let text)) = AgentRequest.parse(frame) else {
                throw .cancelled
            }
            return text
        }
    }

    private func send(_ response: AgentResponse) throws(PAMCheckFailure.Reason) {
        do throws(SystemCallFailure) {
            let frame = try response.frame()
            guard try connection.send(frame, timeout: AgentProtocol.frameTimeout) else {
                throw SystemCallFailure(call: "write", number: 32)
            }
        } catch {
            throw error.isConnectionLost ? .cancelled : .system(error)
        }
    }
}
