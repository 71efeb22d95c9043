internal import POSIX
internal import VaultAgent

/// Whose vaults an agent holds.
enum AgentMode: Sendable {
    /// Those of the user as whom it runs, in these folders.
    case user(folders: [String])
    /// Those of all users: each is in a subfolder of this folder, named after the user's ID.
    case system(folder: String)

    /// The folders that the key holder can reach.
    var folders: [String] {
        switch self {
        case .user(let folders): folders
        case .system(let folder): [folder]
        }
    }

    var argumentsOfKeyHolder: [String] {
        switch self {
        case .user(let folders): [KeyHolder.argument] + folders
        case .system(let folder): [KeyHolder.systemArgument, folder]
        }
    }

    /// The maximum number of clients of all users at a time.
    var mostClients: Int {
        switch self {
        case .user: Connections.limitPerUser
        case .system: 1024
        }
    }

    /// The vault that a client of this user can use; `nil` in an agent of one user.
    func reach(of user: UInt32) -> ClientReach? {
        switch self {
        case .user: nil
        case .system(let folder): .account(SystemAccount(stateFolder: folder, user: user))
        }
    }
}

extension AgentReport {
    /// Reports to the program that started a user agent, or to the log of the service manager.
    func send(
        to output: borrowing FileDescriptor, in mode: AgentMode
    ) throws(SystemCallFailure) {
        guard case .system = mode else { return try send(to: output) }
        if case .ready = self { return }
        let line = "watchword-agent did not start: \(self)\n"
        try StandardStream.error.write(Array(line.utf8).span)
    }
}
