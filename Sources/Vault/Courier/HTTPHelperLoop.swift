public import ProcessConfinement
public import WatchwordSystem

/// The helper's side: read the request, connect, give up all other privileges, send, reply.
///
/// A copy of the process that is made before the request is read looks up the server's name and
/// connects. So whatever a name server answers, no process that knows a secret reads it before it is
/// confined.
public enum HTTPHelperLoop {
    /// The resources that the helper may use.
    public static let limits = Confinement.Limits(addressSpace: 1 << 30, processorSeconds: 20)
    /// How long connecting may take.
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
                try answer(.failure(.helper(.notConfined(error))))
            }
            let connector = try ProcessCopy.start(connect)
            let request = try nextRequest()
            try answer(reply(to: request, connector, prepare, ask))
        } catch {
            // There is nobody left to report to.
            ProcessEnd.atOnce(with: Status.failure)
        }
    }

    private static func reply<Tools: ~Copyable>(
        to request: HelperRequest, _ connector: borrowing FileDescriptor,
        _ prepare: (HelperRequest) throws(HTTPHelperFailure) -> Tools,
        _ ask: (HelperRequest, consuming Tools, borrowing FileDescriptor) throws(HTTPHelperFailure)
            ->
            HelperResponse
    ) -> Reply {
        do throws(HTTPHelperFailure) {
            let tools = try prepare(request)
            let connection = try connection(to: request.server, by: connector)
            // Plain HTTP protects nothing, so the other process is not trusted with it.
            guard request.server.scheme == .https || OutgoingConnection.isLocal(connection) else {
                throw HTTPHelperFailure.notLoopback
            }
            do throws(SystemCallFailure) {
                try Confinement.enter(limits, connection: connection)
            } catch {
                throw HTTPHelperFailure.helper(.notConfined(error))
            }
            return .success(try ask(request, tools, connection))
        } catch {
            return .failure(error)
        }
    }

    /// Has the other process connect to the server.
    private static func connection(
        to server: ServerAddress, by connector: borrowing FileDescriptor
    ) throws(HTTPHelperFailure) -> FileDescriptor {
        let reply: [UInt8]
        do throws(SystemCallFailure) {
            try FileDescriptor.writeFrame(Array(server.text.utf8), to: connector.number)
            guard let received = try connector.receiveFile() else { throw lostConnector }
            let first = received.byte
            if let connection = received.takeFile() { return connection }
            let rest = try [UInt8](capacity: HelperProtocol.largestReply) {
                output throws(SystemCallFailure) in
                try connector.readToEnd(into: &output)
            }
            reply = [first] + rest
        } catch {
            throw .helper(.system(error))
        }
        guard case .failure(let failure) = Reply(parsing: reply.span) else {
            throw .helper(.system(lostConnector))
        }
        throw failure
    }

    private static let lostConnector = SystemCallFailure(call: "recvmsg", number: 32)

    /// In the other process: connects to the server whose address it receives.
    private static func connect(
        over channel: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        var text: [UInt8] = []
        guard let count = try FileDescriptor.readCount(from: channel.number),
            try FileDescriptor.read(exactly: count, from: channel.number, appendingTo: &text)
        else { return }
        let server: ServerAddress
        do { server = try ServerAddress(parsing: String(decoding: text, as: UTF8.self)) } catch {
            return
        }
        let connection: FileDescriptor
        do throws(HTTPHelperFailure) { connection = try connect(to: server) } catch {
            return try Reply.failure(error).encoded().withBytes { bytes throws(SystemCallFailure) in
                try channel.writeAll(bytes)
            }
        }
        try channel.send(HelperProtocol.version, with: connection)
    }

    private static func connect(
        to server: ServerAddress
    ) throws(HTTPHelperFailure) -> FileDescriptor {
        do throws(ConnectionFailure) {
            return try OutgoingConnection.open(
                host: server.host, port: server.port, loopbackOnly: server.scheme == .http,
                timeout: connectTimeout)
        } catch {
            switch error {
            case .unknownHost: throw .unknownHost
            case .notLoopback: throw .notLoopback
            case .unreachable(let failure): throw .unreachable(failure)
            case .timedOut: throw .timedOut
            case .system(let failure): throw .helper(.system(failure))
            }
        }
    }

    private static func answer(_ reply: Reply) throws(SystemCallFailure) -> Never {
        try reply.encoded().withBytes { bytes throws(SystemCallFailure) in
            try FileDescriptor.writeAll(bytes, to: 1)
        }
        ProcessEnd.atOnce(with: Status.done)
    }

    private static func nextRequest() throws(SystemCallFailure) -> HelperRequest {
        var bytes: [UInt8] = []
        guard let count = try FileDescriptor.readCount(from: 0),
            (1...HelperProtocol.largestRequest).contains(count),
            try FileDescriptor.read(exactly: count, from: 0, appendingTo: &bytes),
            let request = HelperRequest(parsing: bytes.span)
        else { ProcessEnd.atOnce(with: Status.badRequest) }
        return request
    }
}
