public import Cryptography
public import POSIX

/// Starts `watchword-token`, one process per request, and validates every answer.
///
/// Only this process loads the libraries for TPMs and authenticators and reads what the devices
/// send. It learns the PIN and one slot's secret, and nothing else from the vault.
public struct TokenHelper: Sendable {
    /// Why there is no result.
    public enum Failure: Error, Hashable, Sendable {
        /// The helper did not do its work.
        case helper(HelperFailure)
        /// The device did not answer in time.
        case timedOut
        /// The helper broke the protocol.
        case badAnswer
        /// The device refused.
        case refused(TokenRefusal)
    }

    /// What the helper needs from the person.
    public protocol Person {
        /// Asks for the PIN, again after a wrong one; `nil` cancels.
        ///
        /// - Parameter left: how many more attempts the device allows, if it reports this.
        mutating func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes?
        /// Asks the person to touch the authenticator.
        mutating func touch(number: Int, of count: Int)
    }

    private let path: String
    private let timeout: Duration

    private static let limits = HelperProcess.Limits(
        greeting: TokenMessage.largestFrame, frame: TokenMessage.largestFrame,
        outgoing: 4 + TokenRequest.largestFrame)
    /// More questions than this are an attack or a bug.
    private static let mostQuestions = 8

    /// Sets the program to start.
    ///
    /// - Parameters:
    ///   - path: the program; by default, the one beside the running program, or where an
    ///     installation puts it (`../libexec/watchword/`).
    ///   - timeout: for each step of the device, not counting the time that a person takes to type.
    /// - Throws: ``HelperFailure/notFound`` if no path is given and the program is not found.
    public init(path: String? = nil, timeout: Duration = .seconds(60)) throws(Failure) {
        guard let path = path ?? RunningProgram.companion("watchword-token") else {
            throw .helper(.notFound)
        }
        self.path = path
        self.timeout = timeout
    }

    /// Carries out one request.
    ///
    /// The calling thread must outlive the call: the kernel kills the helper when that thread ends.
    public func carryOut(
        _ request: TokenRequest, with person: inout some Person
    ) throws(Failure) -> TokenResult {
        let helper: HelperProcess
        do throws(HelperFailure) {
            helper = try HelperProcess(
                running: path, limits: TokenHelper.limits, timeout: timeout)
        } catch {
            throw .helper(error)
        }
        let result: Result<TokenResult, Failure>
        do throws(SystemCallFailure) {
            result = try conversation(with: helper, about: request, person: &person)
        } catch {
            throw .helper(.system(error))
        }
        return try result.get()
    }
}

extension TokenHelper {
    private func conversation(
        with helper: HelperProcess, about request: TokenRequest, person: inout some Person
    ) throws(SystemCallFailure) -> Result<TokenResult, Failure> {
        var questions = 0
        while helper.remainingTime > .zero {
            switch try helper.receive() {
            case .wouldWait: try helper.wait(for: helper.readable)
            case .ended: return .failure(.helper(.died(helper.end().0)))
            case .malformed: return .failure(.badAnswer)
            case .greeting(let frame):
                guard case .ready(let version)? = TokenHelper.message(in: frame) else {
                    return .failure(.badAnswer)
                }
                guard version == TokenMessage.version else {
                    return .failure(.helper(.otherVersion))
                }
                helper.appendFrame { request.encode(into: $0) }
                try send(by: helper)
            case .frame(let frame):
                switch TokenHelper.message(in: frame) {
                case .done(let result)?: return .success(result)
                case .refused(let refusal)?: return .failure(.refused(refusal))
                case .asksPIN(let isRepeated, let left)?:
                    let pin = person.pin(isRepeated: isRepeated, left: left)
                    helper.appendFrame { frame in
                        frame.append([1])
                        pin?.withBytes { pin in frame.append { $0.append(copying: pin) } }
                    }
                    try send(by: helper)
                    helper.restartTimeout(timeout)
                    questions += 1
                case .touch(let number, let count)?:
                    person.touch(number: Int(number), of: Int(count))
                    helper.restartTimeout(timeout)
                    questions += 1
                case .ready?, nil: return .failure(.badAnswer)
                }
                guard questions <= TokenHelper.mostQuestions else { return .failure(.badAnswer) }
            }
        }
        return .failure(.timedOut)
    }

    private static func message(in frame: WipedBuffer) -> TokenMessage? {
        frame.withBytes { TokenMessage(parsing: $0) }
    }

    /// Sends what is queued, and wipes it.
    private func send(by helper: HelperProcess) throws(SystemCallFailure) {
        defer { helper.removeOutgoing() }
        while helper.remainingTime > .zero {
            // A helper that has ended no longer reads; its last frame is read next.
            guard case .wouldWait = try helper.flush() else { return }
            try helper.wait(for: helper.writable)
        }
    }
}
