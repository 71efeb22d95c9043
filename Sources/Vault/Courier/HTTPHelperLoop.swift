public import ProcessConfinement
public import WatchwordSystem

/// The helper's side: read the request, connect, give up all other privileges, send, respond.
///
/// A copy of the process, made before the request is read, looks up the server's name and connects.
/// Therefore, no process that holds a secret reads the answer of a name server before it is
/// confined.
public enum HTTPHelperLoop {
    /// The resources that the helper may use.
    public static let limits = Confinement.Limits(addressSpace: 1 << 30, processorSeconds: 20)
    /// The time limit for connecting.
    public static let connectTimeout = Duration.seconds(15)

    private enum Status {
        static let done: Int32 = 0
        static let badRequest: Int32 = 3
        static let failure: Int32 = 6
    }

    /// Handles one request and ends the process.
    ///
    /// - Parameters:
    ///   - prepare: loads what `ask` needs from the file system, including the system's
    ///     authorities.
    ///   - ask: sends the request over the connection; called once the process can do nothing else.
    public static func run<Tools: ~Copyable>(
        prepare: (HelperRequest) throws(HTTPHelperFailure) -> Tools,
        ask: (HelperRequest, consuming Tools, borrowing FileDescriptor) throws(HTTPHelperFailure) ->
            HelperResponse
    ) -> Never {
        do {
            do throws(SystemCallFailure) {
                try Confinement.prepareToConnect()
            } catch {
                try finish(ResponseFrame(.failure(.helper(.notConfined(error)))))
            }
            let connector = try ProcessCopy.start(connect)
            let input = FileDescriptor(owning: StandardStream.input.rawValue)
            let request: HelperRequest? = try nextFrame(
                from: input, limit: HelperProtocol.largestRequest)
            guard let request else { ProcessEnd.atOnce(with: Status.badRequest) }
            try finish(
                ResponseFrame(
                    Result { () throws(HTTPHelperFailure) in
                        try response(to: request, connector, prepare, ask)
                    }))
        } catch {
            // No process is left to read a report.
            ProcessEnd.atOnce(with: Status.failure)
        }
    }

    private static func response<Tools: ~Copyable>(
        to request: HelperRequest, _ connector: borrowing FileDescriptor,
        _ prepare: (HelperRequest) throws(HTTPHelperFailure) -> Tools,
        _ ask: (HelperRequest, consuming Tools, borrowing FileDescriptor) throws(HTTPHelperFailure)
            -> HelperResponse
    ) throws(HTTPHelperFailure) -> HelperResponse {
        let tools = try prepare(request)
        let server = request.server.address
        let connection = try connection(to: server, by: connector)
        // Plain HTTP protects nothing, so the other process's connection is checked here.
        guard server.scheme == .https || OutgoingConnection.isLocal(connection) else {
            throw .notLoopback
        }
        do throws(SystemCallFailure) {
            try Confinement.enter(limits, connection: connection)
        } catch {
            throw .helper(.notConfined(error))
        }
        return try ask(request, tools, connection)
    }

    /// Has the other process connect to the server.
    private static func connection(
        to server: ServerAddress, by connector: borrowing FileDescriptor
    ) throws(HTTPHelperFailure) -> FileDescriptor {
        let lost = HTTPHelperFailure.helper(
            .system(SystemCallFailure(call: "recvmsg", number: 32)))
        try HTTPHelperFailure.system(in: FrameWriter(server).write(to: connector))
        guard let received = try HTTPHelperFailure.system(in: connector.receiveFile()) else {
            throw lost
        }
        let first = received.byte
        if let connection = received.takeFile() { return connection }
        let rest = try HTTPHelperFailure.system(
            in: WipedBuffer(capacity: 1 + HelperProtocol.largestResponse))
        rest.append([first])
        try HTTPHelperFailure.system(
            in: rest.append { output throws(SystemCallFailure) in
                try connector.readToEnd(into: &output)
            })
        throw rest.value(as: HTTPHelperFailure.self) ?? lost
    }

    /// In the other process: connects to the server whose address it receives.
    private static func connect(
        over channel: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        let address: ServerAddress? = try nextFrame(
            from: channel, limit: 4 + HelperProtocol.longestText)
        guard let server = address else { return }
        let failure: HTTPHelperFailure
        switch OutgoingConnection.open(
            host: server.host, port: server.port, loopbackOnly: server.scheme == .http,
            timeout: connectTimeout)
        {
        case .connected(let connection): return try channel.send(0, with: connection)
        case .unknownHost: failure = .unknownHost
        case .notLoopback: failure = .notLoopback
        case .unreachable(let cause): failure = .unreachable(cause)
        case .timedOut: failure = .timedOut
        case .failed(let cause): failure = .helper(.system(cause))
        }
        try FrameWriter(failure).withContent { bytes throws(SystemCallFailure) in
            try channel.writeAll(bytes)
        }
    }

    /// Sends the response and ends the process.
    private static func finish(_ response: ResponseFrame) throws(SystemCallFailure) -> Never {
        try FrameWriter(response).write(to: StandardStream.output.rawValue)
        ProcessEnd.atOnce(with: Status.done)
    }

    /// The next frame's value; `nil` if there is none, or the frame breaks the protocol.
    private static func nextFrame<Value: Transferable>(
        from file: borrowing FileDescriptor, limit: Int
    ) throws(SystemCallFailure) -> Value? {
        var incoming = try IncomingFrame(limit: limit)
        guard case .complete(let frame) = try incoming.advance(from: file) else { return nil }
        return frame.value()
    }
}
