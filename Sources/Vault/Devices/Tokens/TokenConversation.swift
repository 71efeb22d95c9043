package import WatchwordSystem

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
            var lent = try LentHelperConnection(
                connection, limit: TokenMessage.largestFrame, timeout: timeout)
            result = try conversation(over: &lent, about: request, person: &person)
        } catch {
            throw .helper(.system(error))
        }
        return try result.get()
    }

    /// Sends the request after the helper's greeting, and answers its questions.
    static func conversation(
        over connection: inout some HelperConnection, about request: TokenRequest,
        person: inout some Person
    ) throws(SystemCallFailure) -> Result<TokenResult, Failure> {
        var isReady = false
        var questions = 0
        while questions <= mostQuestions {
            let message: TokenMessage
            switch try connection.receive() {
            case .frame(let frame):
                guard let received = frame.value(as: TokenMessage.self) else {
                    return .failure(.badAnswer)
                }
                message = received
            case .ended: return .failure(.helper(.died(connection.ending())))
            case .malformed: return .failure(.badAnswer)
            case .timedOut: return .failure(.timedOut)
            }
            guard isReady else {
                guard case .ready(let version) = message else { return .failure(.badAnswer) }
                guard version == TokenMessage.version else {
                    return .failure(.helper(.otherVersion))
                }
                isReady = true
                try connection.send(request)
                continue
            }
            switch message {
            case .done(let result): return .success(result)
            case .refused(let refusal): return .failure(.refused(refusal))
            case .asksPIN(let isRepeated, let left):
                let pin = person.pin(isRepeated: isRepeated, left: left)
                try connection.send(OptionalPIN(pin))
                questions += 1
            case .touch(let number, let count):
                person.touch(number: Int(number), of: Int(count))
                connection.restartTimeout()
                questions += 1
            case .ready: return .failure(.badAnswer)
            }
        }
        return .failure(.badAnswer)
    }
}
