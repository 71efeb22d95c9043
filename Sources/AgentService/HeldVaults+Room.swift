internal import Synchronization
internal import VaultAgent

// How much memory vaults take: about four times the size of their files. Each connection that
// opened a vault for itself has a copy of it.
extension HeldVaults {
    /// The total size of the files of all vaults that the system agent holds.
    static let largestTotalOfSystem: Int64 = 128 << 20
    /// The part of it that large files leave to small ones.
    private static let leftToSmallFiles: Int64 = 48 << 20

    /// The total size of the files of a folder's vaults, if there are several.
    private static let largestOfFolder: Int64 = 64 << 20
    /// The size of a file that any number of threads may read at the same time.
    static let largestSmallFile: Int64 = 1 << 20

    /// Whether a vault whose file has this size may be held besides the others in its folder.
    ///
    /// One for all connections always may, unless those of all users take too much.
    func hasRoom(for place: VaultPlace, size: Int64) -> Bool {
        state.withLock { hasRoom(for: place, size: size, in: $0) }
    }

    /// Records the size of the file that is about to be read.
    ///
    /// - Returns: whether there is room for its content.
    func reserve(_ size: Int64, for place: VaultPlace, _ unlocking: UInt64) -> Bool {
        state.withLock { state in
            guard state.vaults[place]?.unlocking == unlocking,
                hasRoom(for: place, size: size, in: state)
            else { return false }
            state.vaults[place]?.size = size
            return true
        }
    }

    private func hasRoom(for place: VaultPlace, size: Int64, in state: State) -> Bool {
        let all = state.vaults.filter { $0.key != place }.values.reduce(size) { $0 + $1.size }
        let left = size > HeldVaults.largestSmallFile ? HeldVaults.leftToSmallFiles : 0
        guard all <= largestTotal - left else { return false }
        guard place.connection != 0 else { return true }
        let others = state.vaults.filter { $0.key.folder == place.folder && $0.key != place }
        guard !others.isEmpty else { return true }
        return others.values.reduce(size) { $0 + $1.size } <= HeldVaults.largestOfFolder
    }
}
