internal import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

/// Why a conversation ends before its task is done.
enum EnrolmentEnd: Error {
    case refused(TaskRefusal)
    /// The program has ended, is too slow, or does not follow the protocol.
    case left
}

/// The connection to a user's program.
final class EnrolmentConnection: Sendable {
    /// The user ID that the kernel recorded.
    let user: UInt32
    private let file: FileDescriptor
    private let frames: FrameConnection

    /// How long the program may take to begin, and to send or receive a frame.
    private static let timeout = Duration.seconds(5)
    /// How long a person may take for the right answer.
    private static let patience = Duration.seconds(180)
    /// How long a person may take to set up an authenticator app: as long as the verifier waits for
    /// the first code.
    private static let patienceForFirstCode = Duration.milliseconds(Policy.enrolmentLifetime)
    /// How often a person may answer a question.
    private static let attempts = 3

    init(_ file: consuming FileDescriptor, user: UInt32) throws(SystemCallFailure) {
        frames = FrameConnection(try file.duplicate())
        self.file = file
        self.user = user
    }

    /// Ends the conversation from another thread.
    func shutDown() { file.shutDown() }

    /// Receives the task that the program requests.
    func task() throws(EnrolmentEnd) -> EnrolmentTask {
        let request = try receive(within: Self.timeout)
        guard case .begin(let version, let task) = request else { throw .left }
        guard version == EnrolmentRequest.version else { throw .refused(.otherVersion) }
        return task
    }

    /// Asks the person until an answer is right, at most three times.
    func ask(
        _ question: EnrolmentQuestion,
        until isRight: (SecretBytes) throws(EnrolmentEnd) -> Bool
    ) throws(EnrolmentEnd) {
        let patience = question == .firstCode ? Self.patienceForFirstCode : Self.patience
        let deadline = Moment.now + patience
        for attempt in 0..<Self.attempts {
            try send(.asks(question, isRepeated: attempt > 0))
            guard case .answer(let answer) = try receive(within: deadline.timeRemaining) else {
                throw .left
            }
            if try isRight(answer) { return }
        }
        throw .refused(question == .firstCode ? .notConfirmed : .denied)
    }

    /// Lends the connection to the check of the login password.
    ///
    /// - Returns: the result of `check`.
    func checkPassword(_ check: (borrowing FileDescriptor) -> Bool?) throws(EnrolmentEnd) -> Bool? {
        try send(.checksPassword)
        return check(file)
    }

    func send(_ response: EnrolmentResponse) throws(EnrolmentEnd) {
        try send(response, within: Self.timeout)
    }

    /// Sends the last response, which is short, without waiting for the program.
    func end(with response: EnrolmentResponse) {
        _ = ifPossible(try send(response, within: .zero))
    }

    private func send(
        _ response: EnrolmentResponse, within timeout: Duration
    ) throws(EnrolmentEnd) {
        let isSent = ifPossible(try frames.send(FrameWriter(response), timeout: timeout))
        guard isSent == true else { throw .left }
    }

    private func receive(within patience: Duration) throws(EnrolmentEnd) -> EnrolmentRequest {
        let received = ifPossible(
            try frames.receive(
                limit: EnrolmentRequest.largest, idleTime: patience, timeout: Self.timeout))
        guard case .frame(let frame)? = received,
            let request = frame.value(as: EnrolmentRequest.self)
        else { throw .left }
        return request
    }
}
