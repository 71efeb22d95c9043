import LocalEnrolment
import LocalSockets
import SQLStore
import Verification
import VerificationService
import WatchwordSystem

extension Serve {
    /// Answers the programs of this machine; returns `nil` without sockets for them.
    ///
    /// - Parameter desk: takes over the connections of users who enrol.
    static func listen(
        on endpoints: [LocalSocketOptions.Socket: LocalEndpoint], _ service: Service,
        _ desk: EnrolmentDesk?
    ) throws -> LocalListener? {
        var entrances: [LocalEntrance] = []
        func add(
            _ socket: LocalSocketOptions.Socket, for use: LocalEntrance.Use,
            admitting admits: @escaping @Sendable (LocalSocket.Peer) -> Bool
        ) {
            guard let endpoint = endpoints[socket] else { return }
            entrances.append(
                LocalEntrance(endpoint, admitting: admits, for: use) {
                    service.noteClosed($0, on: socket.rawValue)
                })
        }
        // For the kernel, these IDs stand for users of other namespaces.
        let strangers = UserDatabase.overflowUsers()
        add(.pam, for: logins(.pam, service)) { $0.user == 0 }
        add(.own, for: logins(.own, service)) { !strangers.contains($0.user) }
        if let desk {
            add(.enrol, for: .conversation { file, peer in desk.begin(file, peer: peer) }) {
                !strangers.contains($0.user)
            }
        }
        guard !entrances.isEmpty else { return nil }
        guard let listener = try LocalListener.start(entrances) else {
            throw VerifierError.store(.noThread)
        }
        return listener
    }

    private static func logins(_ socket: LoginSocket, _ service: Service) -> LocalEntrance.Use {
        let limits =
            switch socket {
            case .pam: ExchangeLimits(LocalSocketOptions.Socket.pam, perUser: nil)
            case .own: ExchangeLimits(LocalSocketOptions.Socket.own, perUser: 4)
            }
        return .exchange(limits) { message, peer in
            await service.respond(toLogin: message, on: socket, of: peer.user)
        }
    }
}

extension ExchangeLimits {
    /// The limits of a socket for logins; without other limits, one user may use all connections.
    fileprivate init(_ socket: LocalSocketOptions.Socket, perUser: Int?) {
        self.init(
            requestCount: LoginRequest.count, connections: socket.connections,
            connectionsPerUser: perUser ?? socket.connections)
    }
}
