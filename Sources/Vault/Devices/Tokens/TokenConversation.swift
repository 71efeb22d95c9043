internal import WatchwordCryptography
package import WatchwordSystem

/// The frames of a helper, whichever process started it.
protocol TokenConnection {
    /// Waits for the next frame.
    func receive() throws(SystemCallFailure) -> FrameConnection.Received
    /// Sends the frame that `fill` appends, and gives the helper a new timeout.
    func send(_ fill: (WipedBuffer) -> Void) throws(SystemCallFailure)
    /// Gives the helper a new timeout.
    func restartTimeout()
    /// How the helper ended.
    func ending() -> ChildProcess.Ending
}

/// A helper that this process started.
struct OwnTokenConnection: TokenConnection {
    private let helper: HelperProcess
    private let timeout: Duration

    init(_ helper: HelperProcess, timeout: Duration) {
        self.helper = helper
        self.timeout = timeout
    }

    func receive() throws(SystemCallFailure) -> FrameConnection.Received {
        while helper.remainingTime > .zero {
            switch try helper.receive() {
            case .wouldWait: try helper.wait(for: helper.readable)
            case .ended: return .ended
            case .malformed: return .malformed
            case .greeting(let frame), .frame(let frame): return .frame(frame)
            }
        }
        return .timedOut
    }

    func send(_ fill: (WipedBuffer) -> Void) throws(SystemCallFailure) {
        helper.appendFrame { fill($0) }
        // What was sent is wiped.
        defer { helper.removeOutgoing() }
        helper.restartTimeout(timeout)
        while helper.remainingTime > .zero {
            // A helper that has ended no longer reads; its last frame is read next.
            guard case .wouldWait = try helper.flush() else { break }
            try helper.wait(for: helper.writable)
        }
    }

    func restartTimeout() { helper.restartTimeout(timeout) }

    func ending() -> ChildProcess.Ending { helper.end().0 }
}

/// A helper that another process started.
private struct LentTokenConnection: TokenConnection {
    let connection: FrameConnection
    let timeout: Duration

    func receive() throws(SystemCallFailure) -> FrameConnection.Received {
        try connection.receive(
            limit: TokenMessage.largestFrame, idleTime: timeout, timeout: timeout)
    }

    func send(_ fill: (WipedBuffer) -> Void) throws(SystemCallFailure) {
        let content = try WipedBuffer(capacity: TokenRequest.largestFrame)
        fill(content)
        let frame = try FrameWriter()
        content.withBytes { bytes in
            frame.append(upTo: bytes.count) { $0.append(copying: bytes) }
        }
        // A helper that has ended no longer reads; its last frame is read next.
        do { _ = try connection.send(frame, timeout: timeout) } catch {
            guard error.isConnectionLost else { throw error }
        }
    }

    // Each frame has its own timeout.
    func restartTimeout() {}

    func ending() -> ChildProcess.Ending { .unknown }
}

extension TokenHelper {
    /// More questions than this are an attack or a bug.
    private static let mostQuestions = 8

    /// Carries out one request with the helper at the other end of `connection`, a non-blocking
    /// socket that is its standard input and output.
    ///
    /// - Parameter timeout: for each step of the device.
    package static func carryOut(
        _ request: TokenRequest, with person: inout some Person,
        over connection: borrowing FileDescriptor, timeout: Duration
    ) throws(Failure) -> TokenResult {
        let result: Result<TokenResult, Failure>
        do throws(SystemCallFailure) {
            let lent = LentTokenConnection(
                connection: FrameConnection(try connection.duplicate()), timeout: timeout)
            result = try conversation(over: lent, about: request, person: &person)
        } catch {
            throw .helper(.system(error))
        }
        return try result.get()
    }

    /// Sends the request after the helper's greeting, and answers its questions.
    static func conversation(
        over connection: some TokenConnection, about request: TokenRequest,
        person: inout some Person
    ) throws(SystemCallFailure) -> Result<TokenResult, Failure> {
        var isReady = false
        var questions = 0
        while questions <= mostQuestions {
            let message: TokenMessage?
            switch try connection.receive() {
            case .frame(let frame): message = frame.withBytes { TokenMessage(parsing: $0) }
            case .ended: return .failure(.helper(.died(connection.ending())))
            case .malformed: return .failure(.badAnswer)
            case .timedOut: return .failure(.timedOut)
            }
            guard isReady else {
                guard case .ready(let version)? = message else { return .failure(.badAnswer) }
                guard version == TokenMessage.version else {
                    return .failure(.helper(.otherVersion))
                }
                isReady = true
                try connection.send { request.encode(into: $0) }
                continue
            }
            switch message {
            case .done(let result)?: return .success(result)
            case .refused(let refusal)?: return .failure(.refused(refusal))
            case .asksPIN(let isRepeated, let left)?:
                let pin = person.pin(isRepeated: isRepeated, left: left)
                try connection.send { frame in
                    frame.append([1])
                    guard let pin else { return }
                    pin.withBytes { pin in frame.append { $0.append(copying: pin) } }
                }
                questions += 1
            case .touch(let number, let count)?:
                person.touch(number: Int(number), of: Int(count))
                connection.restartTimeout()
                questions += 1
            case .ready?, nil: return .failure(.badAnswer)
            }
        }
        return .failure(.badAnswer)
    }
}
