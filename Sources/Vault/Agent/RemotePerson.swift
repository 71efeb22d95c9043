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

    /// Becomes ready when the client sends unrequested data or disconnects.
    var leaving: Polling.Interest { connection.readable }

    func show(_ text: String) throws(PAMCheckFailure) { try send(.says(text)) }

    /// Asks a module's question, and returns the answer.
    ///
    /// - Parameter program: becomes ready when the program that asks has ended.
    func ask(
        _ text: String, isEchoed: Bool, for program: Polling.Interest, until deadline: Moment
    ) throws(PAMCheckFailure) -> SecretBytes {
        try send(.asks(text, isEchoed: isEchoed))
        let text = try answer(for: program, until: deadline)
        guard text.count <= ModuleRelay.longestAnswer else { throw PAMCheckFailure(.cancelled) }
        return text
    }

    /// Asks for the PIN of a device key.
    ///
    /// - Parameters:
    ///   - left: how many more attempts the TPM allows; `nil` if unknown.
    ///   - end: becomes ready when the PIN is no longer needed.
    func askPIN(
        isRepeated: Bool, left: UInt32?, for end: Polling.Interest
    ) throws(PAMCheckFailure) -> SecretBytes {
        try send(.asksPIN(isRepeated: isRepeated, left: left.map(UInt64.init)))
        return try answer(for: end, until: .now + RemotePerson.longestPINEntry)
    }

    /// - Parameter end: becomes ready when the answer is no longer needed.
    private func answer(
        for end: Polling.Interest, until deadline: Moment
    ) throws(PAMCheckFailure) -> SecretBytes {
        let ready = try PAMCheckFailure.system(
            in: Polling.ready(of: [connection.readable, end], timeout: deadline.timeRemaining))
        if ready[1], !ready[0] { throw PAMCheckFailure(.ended(.unknown)) }
        let received = try PAMCheckFailure.system(
            in: connection.receive(
                limit: AgentProtocol.largestAnswer, idleTime: deadline.timeRemaining,
                timeout: AgentProtocol.frameTimeout))
        switch received {
        case .ended, .malformed: throw PAMCheckFailure(.cancelled)
        case .timedOut: throw PAMCheckFailure(.timedOut)
        case .frame(let frame):
            guard case .success(.answer(let text)) = AgentRequest.parse(frame) else {
                throw PAMCheckFailure(.cancelled)
            }
            return text
        }
    }

    private func send(_ response: AgentResponse) throws(PAMCheckFailure) {
        do throws(SystemCallFailure) {
            let frame = try response.frame()
            guard try connection.send(frame, timeout: AgentProtocol.frameTimeout) else {
                throw SystemCallFailure(call: "write", number: 32)
            }
        } catch {
            throw PAMCheckFailure(error.isConnectionLost ? .cancelled : .system(error))
        }
    }
}
