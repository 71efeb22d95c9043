internal import WatchwordSystem

/// The system agent, which keeps each user's vault where the user cannot read it.
package enum SystemAgent {
    /// The folder of its socket; only root can create files in it.
    static let socketFolder = "/run/watchword"
    /// The folder with a folder for each user's vault.
    package static let stateFolder = "/var/lib/watchword-agent"
    /// The name of each user's vault in its folder.
    package static let vaultName = "vault"

    /// Connects to the system agent; `nil` if there is none.
    ///
    /// The socket is in a folder that belongs to root and that only root can write to, so only root
    /// can have put it there. In addition, the kernel must say that root listens on it (systemd
    /// does, and passes the socket on) or that the owner of ``stateFolder`` does; an ordinary caller is
    /// never the owner.
    package static func connect() throws(AgentFailure) -> AgentClient? {
        guard let socket = try socket() else { return nil }
        let peer: LocalSocket.Peer
        do { peer = try LocalSocket.peer(of: socket) } catch { throw .system(error) }
        guard SystemFolder.isRoots(socketFolder),
            peer.user == 0 || peer.user == SystemFolder.owner(of: stateFolder) && !peer.isThisUser
        else { throw .notSystems }
        return AgentClient(FrameConnection(socket), isSystem: true)
    }

    /// Whether the system agent is installed, but nobody can connect to it.
    package static func isStopped() throws(AgentFailure) -> Bool {
        guard SystemFolder.owner(of: stateFolder) != nil else { return false }
        return try socket() == nil
    }

    private static func socket() throws(AgentFailure) -> FileDescriptor? {
        do {
            return try LocalSocket.connect(to: "\(socketFolder)/\(AgentProtocol.socketName)")
        } catch {
            guard error.isNobodyListening else { throw .system(error) }
            return nil
        }
    }
}
