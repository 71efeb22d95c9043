import LocalSockets
import SQLStore
import Verification
import VerificationService
import WatchwordSystem

extension Serve {
    /// Answers the programs of this machine; returns `nil` if there are no sockets for them.
    static func listen(
        on endpoints: [LocalSocketOptions.Socket: LocalEndpoint], _ service: Service
    ) throws -> LocalListener? {
        var entrances: [LocalEntrance] = []
        if let endpoint = endpoints[.pam] {
            entrances.append(
                LocalEntrance(endpoint, admitting: { $0.user == 0 }, for: logins(.pam, service)))
        }
        // The kernel shows users of other namespaces by these IDs.
        let strangers = UserDatabase.overflowUsers()
        if let endpoint = endpoints[.own] {
            entrances.append(
                LocalEntrance(
                    endpoint, admitting: { !strangers.contains($0.user) },
                    for: logins(.own, service)))
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
    /// The limits of a socket for logins; one user may have all connections if there is no other
    /// limit.
    fileprivate init(_ socket: LocalSocketOptions.Socket, perUser: Int?) {
        self.init(
            requestCount: LoginRequest.count, connections: socket.connections,
            connectionsPerUser: perUser ?? socket.connections)
    }
}
