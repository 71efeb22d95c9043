internal import POSIX
internal import SecretVault
internal import VaultAgent

/// The vaults that a client can use.
enum ClientReach: Sendable {
    /// In the user agent: those in the folders for which it was started.
    case folders(Set<FolderIdentity>)
    /// In the system agent: the vault of the client's user, and no other.
    case account(SystemAccount)

    /// Whether the vault at `place` is among them.
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

    /// The name of a file that exists while the vault is being moved to or from this agent.
    static let movingName = "moving"

    /// The path of the user's folder.
    var folder: String { "\(stateFolder)/\(user)" }

    /// The place of the vault; `nil` if the user has no folder.
    func place() -> VaultPlace? {
        do { return try VaultPlace(at: "\(folder)/\(SystemAgent.vaultName)") } catch { return nil }
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
            // Without a folder there is no vault. If it cannot be read, nothing in it is used.
            return !error.isMissing
        }
    }

    /// Records whether the vault is being moved.
    func setMoving(_ isMoving: Bool) throws(VaultError) {
        do throws(SystemCallFailure) {
            let folder = try Folder(opening: folder)
            guard isMoving else { return try folder.removeFile(SystemAccount.movingName) }
            guard try !folder.holds(SystemAccount.movingName) else { return }
            try folder.makePrivateFile(SystemAccount.movingName)
        } catch {
            throw .system(error)
        }
    }
}
