public import WatchwordSystem

// A server checks the login password of a user who has connected to it.
//
// It passes the connection to a `watchword-presence` that the service manager has started as root,
// and gets a verdict. The modules and the user's program exchange messages over the connection, so
// the password does not pass through the server, and the kernel identifies the user.

/// The check, as the server starts it.
package struct PeerCheck: Sendable {
    private let path: String

    /// The maximum size of a verdict in bytes.
    private static let largestVerdict = 256

    /// - Parameter path: the socket for which the service manager starts the program.
    package init(socket path: String) { self.path = path }

    /// Has the modules authenticate the user at the other end of `connection`.
    ///
    /// Until it returns, the connection belongs to the modules. Their last message tells the user's
    /// program the verdict.
    package func isPresent(
        on connection: borrowing FileDescriptor, timeout: Duration
    ) throws(PAMCheckFailure) -> Bool {
        let received: FrameConnection.Received
        do throws(SystemCallFailure) {
            let program = try LocalSocket.connect(to: path)
            try program.send(0, with: connection)
            received = try FrameConnection(program).receive(
                limit: PeerCheck.largestVerdict, idleTime: timeout, timeout: nil)
        } catch {
            throw PAMCheckFailure(error.isNobodyListening ? .programNotFound : .system(error))
        }
        switch received {
        case .frame(let frame):
            switch frame.value(as: ModuleVerdict.self) {
            case .granted?: return true
            case .denied?: return false
            case .failed(let reason)?: throw PAMCheckFailure(reason)
            case nil: throw PAMCheckFailure(.nonsense)
            }
        case .ended: throw PAMCheckFailure(.ended(.unknown))
        case .malformed: throw PAMCheckFailure(.nonsense)
        case .timedOut: throw PAMCheckFailure(.timedOut)
        }
    }
}

/// The side of the program that runs the modules.
public final class PeerRequest {
    /// The user at the other end of the connection.
    public let user: UInt32
    /// The connection to the user's program.
    public let channel: ModuleChannel
    private let server: FrameConnection

    /// How long a person may take for an answer.
    private static let patience = Duration.seconds(60)

    /// Takes over standard input, a socket, and receives the connection over it.
    ///
    /// - Throws: if no connection arrives.
    public init() throws(SystemCallFailure) {
        let input = try FileDescriptor(owning: StandardStream.input.rawValue).duplicate()
        // The service manager made standard output the same socket.
        _ = FileDescriptor(owning: StandardStream.output.rawValue)
        try StandardStream.fillGaps()
        guard try Polling.ready(of: [.reading(input)], timeout: .seconds(10))[0],
            let connection = try input.receiveFile()?.takeFile()
        else { throw .connectionLost }
        user = try LocalSocket.peer(of: connection).user
        channel = try ModuleChannel(over: connection, patience: PeerRequest.patience)
        server = FrameConnection(input)
    }

    /// Reports the verdict to both sides and ends the process.
    public func end(with verdict: ModuleVerdict) -> Never {
        do throws(SystemCallFailure) {
            // The user's program comes first: from the server's verdict on, the connection belongs
            // to the server again. If that program has ended, the server will notice.
            try SystemCallFailure.nilIf(\.isConnectionLost, channel.report(verdict))
            _ = try server.send(FrameWriter(verdict), timeout: .seconds(5))
        } catch {
            // The server notices that there is no verdict.
            ProcessEnd.atOnce(with: 6)
        }
        // The modules' own exit handlers do not run: they could take forever.
        ProcessEnd.atOnce(with: 0)
    }
}
