package import WatchwordSystem

/// Sends a request to a server and returns its response.
public protocol RequestSender {
    /// Sends `request` once.
    mutating func send(_ request: HelperRequest) throws(HTTPHelperFailure) -> HelperResponse
}

/// Starts `watchword-courier`, one process per request, and validates every reply.
///
/// The helper has one connection, to the given server, and no access to files or to the vault's
/// memory. Only the helper parses a server's TLS, HTTP and JSON.
public struct HTTPHelper: RequestSender, Sendable {
    private let path: String
    private let timeout: Duration

    private static let limits = HelperProcess.Limits(
        greeting: nil, frame: HelperProtocol.largestReply,
        outgoing: 4 + HelperProtocol.largestRequest)

    /// Sets the program to start.
    ///
    /// - Parameters:
    ///   - path: the program; by default, the one beside the running program, or where an
    ///     installation puts it (`../libexec/watchword/`).
    ///   - timeout: for the whole request; must exceed the helper's own timeouts for connecting and
    ///     for the exchange.
    /// - Throws: ``HelperFailure/notFound`` if no path is given and the program is not found.
    public init(
        path: String? = nil, timeout: Duration = .seconds(60)
    ) throws(HTTPHelperFailure) {
        guard let path = path ?? RunningProgram.companion("watchword-courier") else {
            throw .helper(.notFound)
        }
        self.path = path
        self.timeout = timeout
    }

    /// Sends one request.
    ///
    /// The calling thread must outlive the call: the kernel kills the helper when that thread ends.
    public func send(_ request: HelperRequest) throws(HTTPHelperFailure) -> HelperResponse {
        precondition(request.fits, "the request exceeds the limits of the protocol")
        let helper: HelperProcess
        do throws(HelperFailure) {
            helper = try HelperProcess(
                running: path, limits: HTTPHelper.limits, timeout: timeout)
        } catch {
            throw .helper(error)
        }
        var connection = OwnHelperConnection(helper, timeout: timeout)
        return try HTTPHelper.exchange(request, over: &connection)
    }

    /// Sends one request to the helper at the other end of `connection`, a non-blocking socket that
    /// is its standard input and output.
    package static func send(
        _ request: HelperRequest, over connection: borrowing FileDescriptor,
        timeout: Duration = .seconds(60)
    ) throws(HTTPHelperFailure) -> HelperResponse {
        precondition(request.fits, "the request exceeds the limits of the protocol")
        var lent: LentHelperConnection
        do {
            lent = try LentHelperConnection(
                connection, limit: HelperProtocol.largestReply, timeout: timeout)
        } catch {
            throw .helper(.system(error))
        }
        return try exchange(request, over: &lent)
    }

    /// Sends the request and waits for the reply.
    private static func exchange(
        _ request: HelperRequest, over connection: inout some HelperConnection
    ) throws(HTTPHelperFailure) -> HelperResponse {
        let received: FrameConnection.Received
        do throws(SystemCallFailure) {
            try connection.send(request)
            received = try connection.receive()
        } catch {
            throw .helper(.system(error))
        }
        switch received {
        case .timedOut: throw .timedOut
        case .ended: throw .helper(.died(connection.ending()))
        case .malformed: throw .badAnswer
        case .frame(let frame):
            guard frame.withBytes({ $0[0] }) == HelperProtocol.version else {
                throw .helper(.otherVersion)
            }
            guard let reply = frame.value(as: Reply.self) else { throw .badAnswer }
            return try reply.result.get()
        }
    }
}
