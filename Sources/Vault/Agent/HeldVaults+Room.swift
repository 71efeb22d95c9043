internal import Synchronization
internal import VaultService
internal import WatchwordSystem

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
        state.withLock { givingWay(to: place, size: size, in: $0) != nil }
    }

    /// Records the size of the file that is about to be read.
    ///
    /// - Returns: whether there is room for its content.
    func reserve(_ size: Int64, for place: VaultPlace, _ unlocking: UInt64) -> Bool {
        state.withLock { state in
            guard state.vaults[place]?.unlocking == unlocking,
                makeRoom(for: place, size: size, in: &state)
            else { return false }
            state.vaults[place]?.size = size
            return true
        }
    }

    /// Makes room for a vault whose file has this size, if others give way to it.
    ///
    /// - Returns: whether there is room.
    func makeRoom(for place: VaultPlace, size: Int64, in state: inout State) -> Bool {
        guard let others = givingWay(to: place, size: size, in: state) else { return false }
        if !others.isEmpty { state.vaults = state.vaults.filter { !others.contains($0.key) } }
        return true
    }

    /// The vaults that give way to one whose file has this size; `nil` if there is no room for it.
    ///
    /// A vault of a single connection gives way if its user would still have more than the other one.
    private func givingWay(
        to place: VaultPlace, size: Int64, in state: State
    ) -> Set<VaultPlace>? {
        var sizes = state.vaults.mapValues(\.size)
        sizes[place] = size
        let isAlone = !sizes.contains { $0.key.folder == place.folder && $0.key != place }
        var totals: [FolderIdentity: Int64] = [:]
        for (place, size) in sizes { totals[place.folder, default: 0] += size }
        let own = totals[place.folder] ?? 0
        guard place.connection == 0 || isAlone || own <= HeldVaults.largestOfFolder else {
            return nil
        }
        let left = size > HeldVaults.largestSmallFile ? HeldVaults.leftToSmallFiles : 0
        var all = sizes.values.reduce(0, +)
        var others: Set<VaultPlace> = []
        while all > largestTotal - left {
            // Of the user who has most, the largest.
            func total(_ place: VaultPlace) -> Int64 { totals[place.folder] ?? 0 }
            let next = sizes.filter { $0.key.connection != 0 && total($0.key) > own }
                .max { (total($0.key), $0.value) < (total($1.key), $1.value) }
            guard let next else { return nil }
            others.insert(next.key)
            sizes[next.key] = nil
            totals[next.key.folder] = total(next.key) - next.value
            all -= next.value
        }
        return others
    }
}
