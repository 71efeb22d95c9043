public import WatchwordCryptography
package import WatchwordSystem

/// Carries out requests with devices, in a process of `watchword-token`.
public protocol TokenRequestHandler: Sendable {
    /// Carries out one request.
    ///
    /// - Parameter person: is asked for the PIN, and to touch the device.
    func carryOut(
        _ request: TokenRequest, with person: inout some TokenHelper.Person
    ) throws(TokenFailure) -> TokenResponse
}

/// Starts `watchword-token`, one process per request, and validates every response.
///
/// Only this process loads the libraries for TPMs and authenticators and reads what the devices
/// send. It learns the PIN and one slot's secret, and nothing else from the vault.
public struct TokenHelper: TokenRequestHandler {
    /// The person, who enters the PIN and touches the device.
    public protocol Person {
        /// Asks for the PIN, again after a wrong PIN; `nil` cancels.
        ///
        /// - Parameter left: how many more attempts the device allows, if it reports this.
        mutating func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes?
        /// Asks the person to touch the authenticator.
        mutating func touch(number: Int, of count: Int)
    }

    /// How long a device may take for each step: a TPM may need many seconds to derive an RSA key.
    public static let standardTimeout = Duration.seconds(60)

    private let path: String
    private let timeout: Duration

    private static let limits = HelperProcess.Limits(
        greeting: TokenMessage.largestFrame, frame: TokenMessage.largestFrame,
        outgoing: 4 + TokenRequest.largestFrame)

    /// Sets the program to start.
    ///
    /// - Parameters:
    ///   - path: the program; by default, the one next to the running program, or else in the
    ///     installation folder (`../libexec/watchword/`).
    ///   - timeout: for each step of the device, not counting the time that a person takes to type.
    /// - Throws: ``HelperFailure/notFound`` if no path is given and the program is not found.
    public init(path: String? = nil, timeout: Duration = standardTimeout) throws(TokenFailure) {
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
    ) throws(TokenFailure) -> TokenResponse {
        let helper: HelperProcess
        do throws(HelperFailure) {
            helper = try HelperProcess(
                running: path, limits: TokenHelper.limits, timeout: timeout)
        } catch {
            throw .helper(error)
        }
        var connection = OwnHelperConnection(helper, timeout: timeout)
        return try TokenHelper.converse(over: &connection, about: request, person: &person)
    }

    /// Carries out one request with the helper at the other end of `connection`, a non-blocking
    /// socket that is its standard input and output.
    ///
    /// - Parameter timeout: for each step of the device.
    package static func carryOut(
        _ request: TokenRequest, with person: inout some Person,
        over connection: borrowing FileDescriptor, timeout: Duration
    ) throws(TokenFailure) -> TokenResponse {
        var lent = try TokenFailure.system(
            in: LentHelperConnection(
                connection, limit: TokenMessage.largestFrame, timeout: timeout))
        return try converse(over: &lent, about: request, person: &person)
    }
}

extension TokenHelper {
    /// More questions than this are an attack or a bug.
    private static let mostQuestions = 8

    /// Sends the request after the helper's greeting, and answers its questions.
    private static func converse(
        over connection: inout some HelperConnection, about request: TokenRequest,
        person: inout some Person
    ) throws(TokenFailure) -> TokenResponse {
        guard case .ready(let version) = try message(over: &connection) else {
            throw .badHelperResponse
        }
        guard version == TokenMessage.version else { throw .helper(.otherVersion) }
        try TokenFailure.system(in: connection.send(request))
        for _ in 0...mostQuestions {
            switch try message(over: &connection) {
            case .done(let result): return result
            case .refused(let failure): throw failure
            case .asksPIN(let isRepeated, let left):
                let pin = person.pin(isRepeated: isRepeated, left: left)
                try TokenFailure.system(in: connection.send(OptionalPIN(pin)))
            case .touch(let number, let count):
                person.touch(number: Int(number), of: Int(count))
                connection.restartTimeout()
            case .ready: throw .badHelperResponse
            }
        }
        throw .badHelperResponse
    }

    private static func message(
        over connection: inout some HelperConnection
    ) throws(TokenFailure) -> TokenMessage {
        switch try TokenFailure.system(in: connection.receive()) {
        case .frame(let frame):
            guard let message = frame.value(as: TokenMessage.self) else { throw .badHelperResponse }
            return message
        case .ended: throw .helper(.died(connection.ending()))
        case .malformed: throw .badHelperResponse
        case .timedOut: throw .timedOut
        }
    }
}
