internal import WatchwordSystem

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
        let reply: WipedBuffer?
        do { reply = try HTTPHelper.exchange(request, with: helper) } catch {
            throw .helper(.system(error))
        }
        return try HTTPHelper.response(in: reply) { helper.end().0 }
    }

    /// The response in a reply.
    ///
    /// - Parameters:
    ///   - reply: `nil` if the timeout expired first; empty if the helper sent nothing.
    ///   - ending: how the helper ended.
    static func response(
        in reply: WipedBuffer?, from ending: () -> ChildProcess.Ending
    ) throws(HTTPHelperFailure) -> HelperResponse {
        guard let reply else { throw .timedOut }
        guard reply.count > 0 else { throw .helper(.died(ending())) }
        guard let result = reply.withBytes({ Reply(parsing: $0) }) else { throw .badAnswer }
        return try result.get()
    }

    /// Sends the request and reads the reply until the pipe is closed.
    ///
    /// - Returns: `nil` if the timeout expired first.
    private static func exchange(
        _ request: HelperRequest, with helper: HelperProcess
    ) throws(SystemCallFailure) -> WipedBuffer? {
        helper.appendFrame { request.encode(into: $0) }
        let reply = try WipedBuffer(capacity: HelperProtocol.largestReply)
        while helper.remainingTime > .zero {
            // A helper that has ended no longer reads; its reply is read next.
            guard case .wouldWait = try helper.flush() else { break }
            try helper.wait(for: helper.writable)
        }
        while helper.remainingTime > .zero {
            switch try helper.receiveReply(into: reply) {
            case .moved: continue
            case .ended: return reply
            case .wouldWait: try helper.wait(for: helper.readable)
            }
        }
        return nil
    }
}
