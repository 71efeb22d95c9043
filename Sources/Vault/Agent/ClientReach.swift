internal import SecretVault
internal import VaultService
internal import WatchwordSystem

/// The vaults that a client can use.
enum ClientReach: Sendable {
    /// In the user agent: the vaults in the folders for which the agent was started.
    case folders(Set<FolderIdentity>)
    /// In the system agent: the vault of the client's user, and no other.
    case account(SystemAccount)

    /// Whether the client can use the vault at `place`.
    func contains(_ place: VaultPlace) -> Bool {
        switch self {
        case .folders(let folders): folders.contains(place.folder)
        case .account(let account): account.place()?.folder == place.folder
        }
    }
}

/// The vault that the system agent keeps for one user.
struct SystemAccount: Sendable {
    /// The folder with all users' folders.
    let stateFolder: String
    /// The user ID, as the kernel recorded it.
    let user: UInt32

    /// The state of a move of the vault to or from this agent.
    enum MoveState: String, CaseIterable {
        /// The agent has a copy, and the client has not erased the original.
        case arriving
        /// The agent has confirmed its copy, so the client may have erased the original.
        case confirmed
        /// The client has received a copy, and may ask the agent to erase its own.
        case leaving
    }

    /// A file that exists while the vault is being moved.
    private static let movingName = "moving"
    private static let movingStart = "watchword-move 1 "
    private static let movingFile = FileReplacement(
        of: movingName, beginningWith: Array(movingStart.utf8))

    /// The path of the user's folder.
    var folder: String { "\(stateFolder)/\(user)" }

    /// The place of the vault; `nil` if the user has no folder.
    func place() -> VaultPlace? {
        ifPossible(try VaultPlace(at: path))
    }

    /// The path of the vault.
    var path: String { "\(folder)/\(SystemAgent.vaultName)" }

    /// Whether the vault is being moved.
    func isMoving() -> Bool {
        do throws(SystemCallFailure) {
            let folder = try Folder(opening: folder)
            guard try folder.holds(SystemAgent.vaultName) else { return false }
            return try folder.holds(SystemAccount.movingName)
        } catch {
            // Without a folder, there is no vault. If the folder cannot be read, nothing in it is
            // used.
            return !error.isMissing
        }
    }

    /// The state of the move; `nil` if unknown.
    func moveState() -> MoveState? {
        let bytes = ifPossible(
            try Folder(opening: folder).readPrivateFile(SystemAccount.movingName, limit: 64))
        return MoveState.allCases.first { bytes == SystemAccount.text(of: $0) }
    }

    private static func text(of state: MoveState) -> [UInt8] {
        Array("\(movingStart)\(state.rawValue)\n".utf8)
    }

    /// Records the state of the move; `nil` if the move is finished.
    ///
    /// When this returns, the names of all files in the folder are on disk, too.
    func setMoving(_ state: MoveState?) throws {
        try put(
            state.map(SystemAccount.text), at: SystemAccount.movingName,
            by: SystemAccount.movingFile)
    }

    /// Replaces a file in the user's folder; if the content is `nil`, removes the file.
    func put(
        _ content: [UInt8]?, at name: String, by file: FileReplacement
    ) throws(VaultError) {
        do throws(FileError) {
            let folder = try FileError.system(in: Folder(opening: self.folder))
            if let content {
                try file.replace(with: content.span, in: folder, previous: .none)
            } else {
                try file.remove(in: folder)
            }
        } catch {
            switch error {
            case .system(let failure): throw .system(failure)
            case .notConfirmed(let failure): throw .notConfirmed(failure)
            default: throw .inTheWay(name: name)
            }
        }
    }
}
