public import WatchwordCryptography
public import WatchwordSystem

/// Carries out requests with devices, in a process of `watchword-token`.
public protocol TokenRequestHandler: Sendable {
    /// Carries out one request.
    ///
    /// - Parameter person: is asked for the PIN, and to touch the device.
    func carryOut(
        _ request: TokenRequest, with person: inout some TokenHelper.Person
    ) throws(TokenHelper.Failure) -> TokenResult
}

/// Starts `watchword-token`, one process per request, and validates every answer.
///
/// Only this process loads the libraries for TPMs and authenticators and reads what the devices
/// send. It learns the PIN and one slot's secret, and nothing else from the vault.
public struct TokenHelper: TokenRequestHandler {
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
    ///   - path: the program; by default, the one beside the running program, or where an
    ///     installation puts it (`../libexec/watchword/`).
    ///   - timeout: for each step of the device, not counting the time that a person takes to type.
    /// - Throws: ``HelperFailure/notFound`` if no path is given and the program is not found.
    public init(path: String? = nil, timeout: Duration = standardTimeout) throws(Failure) {
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
            var connection = OwnHelperConnection(helper, timeout: timeout)
            result = try TokenHelper.conversation(
                over: &connection, about: request, person: &person)
        } catch {
            throw .helper(.system(error))
        }
        return try result.get()
    }
}

extension TokenHelper.Failure: Transferable {
    private enum Kind: UInt8, Transferable {
        case helper, timedOut, badAnswer, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .helper(let failure): output.append(Kind.helper, failure)
        case .timedOut: output.append(Kind.timedOut)
        case .badAnswer: output.append(Kind.badAnswer)
        case .refused(let refusal): output.append(Kind.refused, refusal)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .helper: self = try fields.make(Self.helper, from: bytes)
        case .timedOut: self = .timedOut
        case .badAnswer: self = .badAnswer
        case .refused: self = try fields.make(Self.refused, from: bytes)
        }
    }
}
