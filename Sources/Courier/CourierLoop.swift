public import POSIX

/// The courier's end of the pipe: read the errand, connect, give up everything else, ask, answer.
public enum CourierLoop {
    /// What a courier may use.
    public static let limits = Confinement.Limits(addressSpace: 1 << 30, processorSeconds: 20)
    /// How long connecting may take.
    public static let connectTimeout = Duration.seconds(15)

    private enum Status {
        static let done: Int32 = 0
        static let badRequest: Int32 = 3
        static let failure: Int32 = 6
    }

    /// Runs one errand, and ends the process.
    ///
    /// - Parameters:
    ///   - prepare: gets ready what `ask` needs from the file system, the system's authorities included.
    ///   - ask: asks over the connection; called when the process can do nothing else any more.
    public static func run<Tools: ~Copyable>(
        prepare: (Errand) throws(CourierFailure) -> Tools,
        ask: (Errand, consuming Tools, borrowing FileDescriptor) throws(CourierFailure) ->
            CourierAnswer
    ) -> Never {
        do {
            do throws(SystemCallFailure) {
                try Confinement.prepareToConnect()
            } catch {
                try answer(.failure(.notConfined(error)))
            }
            let errand = try nextErrand()
            try answer(reply(to: errand, prepare, ask))
        } catch {
            // Nobody is left to be told.
            ProcessEnd.atOnce(with: Status.failure)
        }
    }

    private static func reply<Tools: ~Copyable>(
        to errand: Errand, _ prepare: (Errand) throws(CourierFailure) -> Tools,
        _ ask: (Errand, consuming Tools, borrowing FileDescriptor) throws(CourierFailure) ->
            CourierAnswer
    ) -> Reply {
        do throws(CourierFailure) {
            let tools = try prepare(errand)
            let connection = try connect(errand.server)
            do throws(SystemCallFailure) {
                try Confinement.enter(limits, connection: connection)
            } catch {
                throw CourierFailure.notConfined(error)
            }
            return .success(try ask(errand, tools, connection))
        } catch {
            return .failure(error)
        }
    }

    private static func connect(_ server: ServerAddress) throws(CourierFailure) -> FileDescriptor {
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
            case .system(let failure): throw .system(failure)
            }
        }
    }

    private static func answer(_ reply: Reply) throws(SystemCallFailure) -> Never {
        try reply.wireForm().withBytes { bytes throws(SystemCallFailure) in
            try FileDescriptor.writeAll(bytes, to: 1)
        }
        ProcessEnd.atOnce(with: Status.done)
    }

    private static func nextErrand() throws(SystemCallFailure) -> Errand {
        var bytes: [UInt8] = []
        guard try FileDescriptor.read(exactly: 4, from: 0, appendingTo: &bytes) else {
            ProcessEnd.atOnce(with: Status.badRequest)
        }
        let count = bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
        bytes.removeAll()
        guard (1...Wire.largestErrand).contains(count),
            try FileDescriptor.read(exactly: count, from: 0, appendingTo: &bytes),
            let errand = Errand(parsing: bytes.span)
        else { ProcessEnd.atOnce(with: Status.badRequest) }
        return errand
    }
}
