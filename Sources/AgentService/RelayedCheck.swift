internal import Cryptography
internal import POSIX
internal import Presence
internal import PresenceDevices
internal import VaultAgent

/// The person at a client, who sees the modules' messages and answers their questions.
struct RemotePerson {
    private let connection: FrameConnection

    init(_ connection: FrameConnection) { self.connection = connection }

    /// Becomes ready when the client sends something unasked, or leaves.
    var leaving: Polling.Interest { connection.readable }

    func show(_ text: String) throws(PAMCheckFailure.Reason) { try send(.says(text)) }

    /// Asks a question, and appends the answer.
    ///
    /// - Parameter program: becomes ready when the program that asks has ended.
    func ask(
        _ text: String, isEchoed: Bool, for program: Polling.Interest, until deadline: Moment,
        into answer: FrameWriter
    ) throws(PAMCheckFailure.Reason) {
        try send(.asks(text, isEchoed: isEchoed))
        let ready: [Bool]
        do {
            ready = try Polling.ready(
                of: [connection.readable, program], timeout: deadline.timeRemaining)
        } catch {
            throw .system(error)
        }
        if ready[1], !ready[0] { throw .ended(.unknown) }
        let received: FrameConnection.Received
        do {
            received = try connection.receive(
                limit: AgentProtocol.largestAnswer, idleTime: deadline.timeRemaining,
                timeout: AgentProtocol.frameTimeout)
        } catch {
            throw .system(error)
        }
        switch received {
        case .ended, .malformed: throw .cancelled
        case .timedOut: throw .timedOut
        case .frame(let frame):
            do throws(AgentProtocolError) {
                guard case .answer(let text) = try AgentRequest.parse(frame) else {
                    throw AgentProtocolError.malformed
                }
                guard text.count <= ModuleRelay.longestAnswer else {
                    throw AgentProtocolError.malformed
                }
                answer.append(upTo: text.count) { output in
                    text.withBytes { output.append(copying: $0) }
                }
            } catch {
                throw .cancelled
            }
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

/// Asks the system's modules in a process that the supervisor starts.
///
/// The client only shows their messages and passes the answers on: the verdict does not pass through
/// it.
///
/// The check is ``Advisory`` if the modules run as the same user as the client, and ``Enforced`` in
/// the system agent.
struct RelayedCheck<Grade: PresenceGrade>: PresenceCheck {
    private let helpers: HelperChannel
    private let person: RemotePerson
    /// The user whom the modules check; `nil` for the user of this process.
    private let user: UInt32?
    /// Ends the check when the vault is locked.
    private let vaults: HeldVaults
    private let place: VaultPlace
    private let unlocking: UInt64

    private static var timeout: Duration { .seconds(60) }

    /// - Parameter unlocking: the number of the unlocking of the vault at `place`.
    init(
        _ helpers: HelperChannel, _ person: RemotePerson, user: UInt32?, in vaults: HeldVaults,
        _ place: VaultPlace, _ unlocking: UInt64
    ) {
        self.helpers = helpers
        self.person = person
        self.user = user
        self.vaults = vaults
        self.place = place
        self.unlocking = unlocking
    }

    func isPresent(for purpose: String) throws(PAMCheckFailure) -> Bool {
        let deadline = Moment.now + RelayedCheck.timeout
        let program: HelperChannel.Started?
        do { program = try helpers.startPresence(for: user) } catch {
            throw PAMCheckFailure(reason: .system(error), mayConcealAttempt: false)
        }
        guard let program else {
            throw PAMCheckFailure(reason: .programNotFound, mayConcealAttempt: false)
        }
        return try program.withConnection { connection throws(PAMCheckFailure) in
            let answer = try vaults.waiting(for: connection, in: place, unlocking) {
                () throws(PAMCheckFailure) in
                try verdict(of: connection, until: deadline)
            } otherwise: {
                PAMCheckFailure(reason: .system($0), mayConcealAttempt: false)
            }
            guard let answer else {
                throw PAMCheckFailure(reason: .cancelled, mayConcealAttempt: false)
            }
            return answer
        }
    }

    private func verdict(
        of program: borrowing FileDescriptor, until deadline: Moment
    ) throws(PAMCheckFailure) -> Bool {
        let relay: ModuleRelay
        do { relay = try ModuleRelay(program, until: deadline) } catch {
            throw PAMCheckFailure(reason: error, mayConcealAttempt: false)
        }
        let end = Polling.Interest.reading(program)
        do throws(PAMCheckFailure.Reason) {
            return try relay.verdict(unless: person.leaving) {
                text throws(PAMCheckFailure.Reason) in
                try person.show(text)
            } asking: { text, isEchoed, answer throws(PAMCheckFailure.Reason) in
                try person.ask(
                    text, isEchoed: isEchoed, for: end, until: deadline, into: answer)
            }
        } catch {
            throw PAMCheckFailure(reason: error, mayConcealAttempt: relay.mayHaveBeenAttempted)
        }
    }
}
