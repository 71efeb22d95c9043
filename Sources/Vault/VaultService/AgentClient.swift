package import WatchwordSystem

/// The reason why the agent gave no response.
package enum AgentFailure: SystemCallError, Hashable, Sendable {
    /// No agent is running.
    case notRunning
    /// The folder for the agent's socket does not exist, or other users can access it.
    case folder(RuntimeFolder.Failure)
    /// The file at the socket's path is not this user's socket, or another user listens on it.
    case notOurs
    /// The process that listens at the path of the system agent's socket is not the system agent.
    case notSystems
    /// The agent has a different version.
    case otherVersion
    /// Too many clients are connected to the agent.
    case tooManyClients
    /// The agent ended, or did not respond in time.
    case noResponse
    /// After a request to lock vaults, the agent ended or did not respond in time.
    case notLocked
    /// The system agent ended or did not start, or did not respond in time.
    case noResponseFromSystem
    /// After a request to lock the vault, the system agent ended or did not start, or did not
    /// respond in time.
    case notLockedBySystem
    /// The system agent is installed, but its socket does not exist.
    case systemStopped
    /// The agent broke the protocol.
    case malformed
    /// The program `watchword-agent` was not found.
    case programNotFound
    /// The agent did not start; this step failed in the agent.
    case notStarted(SystemCallFailure)
    /// A system call in this process failed.
    case system(SystemCallFailure)
}

/// A connection to the agent.
///
/// The object is used by one thread only.
package final class AgentClient {
    private let connection: FrameConnection
    /// Whether the connection leads to the system agent.
    package let isSystem: Bool

    /// How long a request may take: the agent may wait for other attempts, each of which derives a
    /// key.
    private static let responseTimeout = Duration.seconds(120)
    /// How long a sign-in may take; a sign-in waits for other sign-ins, and resumes interrupted
    /// ones.
    private static let slowTimeout = Duration.seconds(600)
    /// How long a quick request may take; the user's own agent answers such a request without
    /// waiting for others.
    private static let quickTimeout = Duration.seconds(5)
    /// How long a quick request to the system agent may take, where it may wait for another user's
    /// request.
    private static let quickTimeoutOfSystem = Duration.seconds(30)
    /// How long locking may take; the client has no other way to lock a vault.
    private static let lockTimeout = Duration.seconds(30)

    /// Connects to the running agent of this user.
    ///
    /// The socket and its folder must belong to this user and be inaccessible to others, and the
    /// process that listens must belong to this user.
    package init() throws(AgentFailure) {
        let folder: OpenRuntimeFolder
        switch RuntimeFolder.open(makes: false) {
        case .opened(let opened): folder = opened
        case .failed(.missing): throw .notRunning
        case .failed(let failure): throw .folder(failure)
        }
        connection = FrameConnection(try AgentClient.socket(in: folder))
        isSystem = false
        guard try AgentFailure.system(in: connection.peer()).isThisUser else { throw .notOurs }
    }

    private static func socket(
        in folder: borrowing OpenRuntimeFolder
    ) throws(AgentFailure) -> FileDescriptor {
        let name = AgentProtocol.socketName
        switch try AgentFailure.system(in: folder.socketState(name)) {
        case .missing: throw .notRunning
        case .foreign: throw .notOurs
        case .own: break
        }
        do { return try LocalSocket.connect(to: folder.path(of: name)) } catch {
            throw error.isNobodyListening ? .notRunning : .system(error)
        }
    }

    /// Takes over an open connection.
    package init(_ connection: FrameConnection, isSystem: Bool = false) {
        self.connection = connection
        self.isSystem = isSystem
    }

    private func timeout(of request: AgentRequest) -> Duration {
        if request.locks { return AgentClient.lockTimeout }
        guard request.isQuick else {
            return request.isSlow ? AgentClient.slowTimeout : AgentClient.responseTimeout
        }
        return isSystem ? AgentClient.quickTimeoutOfSystem : AgentClient.quickTimeout
    }

    /// Sends a request and waits for the response.
    package func send(_ request: AgentRequest) throws(AgentFailure) -> AgentResponse {
        try write(request)
        return try receive(
            within: timeout(of: request), otherwise: request.locks ? notLocked : noResponse)
    }

    /// Sends a request, and passes messages and questions to the person.
    ///
    /// - Parameter person: shows a message or asks a question; returns the next request for a
    ///   question.
    package func send(
        _ request: AgentRequest,
        asking person: (AgentResponse) -> AgentRequest?
    ) throws(AgentFailure) -> AgentResponse {
        var next: AgentRequest? = request
        while true {
            if let next { try write(next) }
            let response = try receive(within: timeout(of: request), otherwise: noResponse)
            switch response {
            case .says, .asks, .asksPIN: next = person(response)
            default: return response
            }
        }
    }

    /// Waits until the agent has closed the connection, but at most for a few seconds.
    package func waitForEnd() {
        // If receiving fails, the connection has ended.
        _ = ifPossible(
            try connection.receive(
                limit: 1, idleTime: AgentProtocol.frameTimeout, timeout: .zero))
    }

    /// Becomes ready when the agent has sent something or has ended.
    package var readable: Polling.Interest { connection.readable }

    private func write(_ request: AgentRequest) throws(AgentFailure) {
        do throws(SystemCallFailure) {
            let frame = try FrameWriter()
            frame.append(AgentProtocol.version)
            frame.append(request)
            // If the agent has refused the connection, its response is read next.
            _ = try connection.send(frame, timeout: AgentProtocol.frameTimeout)
        } catch {
            throw failure(of: error, otherwise: noResponse)
        }
    }

    private var noResponse: AgentFailure { isSystem ? .noResponseFromSystem : .noResponse }
    private var notLocked: AgentFailure { isSystem ? .notLockedBySystem : .notLocked }

    /// Waiting connections are closed by the agent when it ends, and by systemd if the service does
    /// not start.
    private func failure(
        of error: SystemCallFailure, otherwise noResponse: AgentFailure
    ) -> AgentFailure {
        error.isConnectionLost ? noResponse : .system(error)
    }

    /// - Parameter noResponse: the failure if there is no response.
    private func receive(
        within timeout: Duration, otherwise noResponse: AgentFailure
    ) throws(AgentFailure) -> AgentResponse {
        let received: FrameConnection.Received
        do {
            received = try connection.receive(
                limit: AgentProtocol.largestResponse, idleTime: timeout,
                timeout: AgentProtocol.frameTimeout)
        } catch {
            throw failure(of: error, otherwise: noResponse)
        }
        guard case .frame(let frame) = received else {
            if case .malformed = received { throw .malformed }
            throw noResponse
        }
        guard let response: AgentResponse = frame.value() else { throw .malformed }
        switch response {
        case .otherVersion: throw .otherVersion
        case .misunderstood: throw .malformed
        case .tooManyClients: throw .tooManyClients
        default: return response
        }
    }
}

// The agent's side of the protocol: reads requests and writes responses.
extension AgentRequest {
    /// Parses a request; a failure carries the response for the client.
    package static func parse(_ frame: WipedBuffer) -> Result<AgentRequest, RequestRefusal> {
        frame.withBytes { bytes in
            let request = bytes.extracting(1..<bytes.count)
            guard bytes[0] == AgentProtocol.version || AgentRequest.isUniversal(request) else {
                return .failure(RequestRefusal(.otherVersion))
            }
            do {
                return .success(try AgentRequest(parsing: request))
            } catch {
                return .failure(RequestRefusal(.misunderstood))
            }
        }
    }
}

extension AgentResponse {
    /// A frame that contains this response.
    package func frame() throws(SystemCallFailure) -> FrameWriter {
        let frame = try FrameWriter()
        frame.append(self)
        return frame
    }
}

/// The system agent, which keeps each user's vault in a place that the user cannot read.
package enum SystemAgent {
    /// The folder of its socket; only root can create files in it.
    static let socketFolder = "/run/watchword"
    /// The folder that contains one folder for each user's vault.
    package static let stateFolder = "/var/lib/watchword-agent"
    /// The file name of each user's vault.
    package static let vaultName = "vault"

    /// Connects to the system agent; `nil` if there is none.
    ///
    /// The socket is in a folder that belongs to root and that only root can write to, so only root
    /// can have created it. In addition, the kernel must report that root listens on it (systemd
    /// does, and passes the socket on) or that the owner of ``stateFolder`` does; an ordinary
    /// caller is never the owner.
    package static func connect() throws(AgentFailure) -> AgentClient? {
        guard let socket = try socket() else { return nil }
        let connection = FrameConnection(socket)
        let peer = try AgentFailure.system(in: connection.peer())
        guard SystemFolder.isRoots(socketFolder),
            peer.user == 0 || peer.user == SystemFolder.owner(of: stateFolder) && !peer.isThisUser
        else { throw .notSystems }
        return AgentClient(connection, isSystem: true)
    }

    /// Whether the system agent is installed, but does not accept connections.
    package static func isStopped() throws(AgentFailure) -> Bool {
        guard SystemFolder.owner(of: stateFolder) != nil else { return false }
        return try socket() == nil
    }

    private static func socket() throws(AgentFailure) -> FileDescriptor? {
        let path = "\(socketFolder)/\(AgentProtocol.socketName)"
        return try AgentFailure.system(
            in: SystemCallFailure.nilIf(\.isNobodyListening, LocalSocket.connect(to: path)))
    }
}
