package import SecretVault
internal import Synchronization
package import VaultService
package import WatchwordSystem

/// The vaults whose keys the agent holds, until a time limit expires, the machine is suspended, or
/// a client locks the vaults.
package final class HeldVaults: Sendable {
    /// A vault for one request.
    package struct Use {
        package let vault: UnlockedVault
        /// The number of the unlocking; different each time the vault is unlocked.
        package let unlocking: UInt64
    }

    let clock: @Sendable () -> AgentClock
    private let wake: @Sendable () -> Void
    let state: Mutex<State>
    /// Large files are read one at a time.
    let largeReading = Mutex(())

    /// The total size of the files of all vaults that are held.
    let largestTotal: Int64

    /// The kinds of memory in which keys may be kept.
    private let memory: KeyMemory

    /// - Parameters:
    ///   - largestTotal: the total size of the files of all vaults that are held.
    ///   - wake: called when ``dropExpired()`` must be called again, because a vault is held.
    init(
        _ memory: KeyMemory = .locked, largestTotal: Int64 = .max,
        clock: @escaping @Sendable () -> AgentClock,
        wake: @escaping @Sendable () -> Void = {}
    ) {
        self.memory = memory
        self.largestTotal = largestTotal
        self.clock = clock
        self.wake = wake
        state = Mutex(State(suspended: clock().suspended))
    }

    /// Records that a vault is being opened, which takes as long as the key derivation.
    ///
    /// If the vault is locked before the derivation ends, it will not be held.
    ///
    /// - Returns: the number of the unlocking.
    package func beginUnlocking(_ place: VaultPlace) -> UInt64 {
        let now = clock()
        return state.withLock { state in
            state.drop(at: now)
            state.unlockings += 1
            state.opening[state.unlockings] = place
            return state.unlockings
        }
    }

    /// Whether the vault is still being opened and was not locked meanwhile.
    func isOpening(_ unlocking: UInt64) -> Bool {
        state.withLock { $0.opening[unlocking] != nil }
    }

    /// Records that a vault could not be opened.
    package func endUnlocking(_ unlocking: UInt64) {
        state.withLock { $0.opening[unlocking] = nil }
    }

    /// Whether all keys are in memory that is never written to swap.
    var locksKeys: Bool { memory == .locked || !KeyMemory.isUnlocked }

    /// Whether the key of a vault is in an allowed kind of memory.
    func mayHold(_ vault: HeldVault) -> Bool { memory.mayHold(vault.heldKey) }

    /// Holds a vault that has just been opened.
    ///
    /// - Parameter unlocking: the number from ``beginUnlocking(_:)``.
    /// - Returns: whether the vault is held. It is not if it was locked meanwhile, if its key is
    ///   not in an allowed kind of memory, if there is no room for it, or if the agent is ending.
    package func hold(
        _ vault: HeldVault, for time: HoldingTime, _ unlocking: UInt64
    ) -> Bool {
        guard mayHold(vault) else { return false }
        let now = clock()
        let isHeld = state.withLock { state in
            state.drop(at: now)
            guard let place = state.opening.removeValue(forKey: unlocking), !state.isClosed,
                makeRoom(for: place, size: vault.fileSize, in: &state)
            else { return false }
            state.keys[unlocking] = vault.heldKey
            state.vaults[place] = Held(
                vault: vault, stamp: nil, size: vault.fileSize, unlocking: unlocking, time: time,
                end: now.sinceBoot + time.total, lastUse: now.sinceBoot)
            return true
        }
        wake()
        return isHeld
    }

    /// Records a use of a secret, which restarts the idle time.
    package func countUse(of place: VaultPlace, _ unlocking: UInt64) {
        let now = clock()
        state.withLock { state in
            guard state.vaults[place]?.unlocking == unlocking else { return }
            state.vaults[place]?.lastUse = now.sinceBoot
        }
    }

    /// Whether the vault is held.
    package func isHeld(_ place: VaultPlace) -> Bool { current(place) != nil }

    /// Whether the vault is still held since the same unlocking.
    package func isHeld(_ place: VaultPlace, _ unlocking: UInt64) -> Bool {
        current(place)?.unlocking == unlocking
    }

    /// Locks a vault: drops its key, and also its keys for single connections unless `place` is for
    /// one of these.
    ///
    /// - Parameter unlocking: locks it only if it is held since this unlocking.
    /// - Returns: whether the vault was held or being opened.
    @discardableResult package func lock(
        _ place: VaultPlace, since unlocking: UInt64? = nil
    ) -> Bool {
        state.withLock { state in
            let isOfAll = place.connection == 0 && unlocking == nil
            func isLocked(_ other: VaultPlace) -> Bool {
                isOfAll ? place.only(for: other.connection) == other : place == other
            }
            let wasOpening = unlocking == nil && state.stopOpening(isLocked)
            let left = state.vaults.filter { other, held in
                !isLocked(other) || unlocking ?? held.unlocking != held.unlocking
            }
            defer { state.vaults = left }
            return wasOpening || left.count < state.vaults.count
        }
    }

    /// Locks all vaults: drops all keys.
    package func lockAll() {
        state.withLock { state in
            state.vaults = [:]
            state.opening = [:]
        }
    }

    /// Locks the vaults in one folder, for all connections.
    ///
    /// - Returns: whether any vault was held or being opened.
    @discardableResult package func lockAll(in folder: FolderIdentity) -> Bool {
        state.withLock { state in
            let wasOpening = state.stopOpening { $0.folder == folder }
            let left = state.vaults.filter { $0.key.folder != folder }
            defer { state.vaults = left }
            return wasOpening || left.count < state.vaults.count
        }
    }

    /// Drops all keys, and holds no vault from now on.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.vaults = [:]
        }
    }

    /// Drops the keys whose time has expired, and all keys if the machine was suspended.
    ///
    /// - Returns: the time until the next key expires; `nil` if none is held.
    package func dropExpired() -> Duration? {
        let now = clock()
        return state.withLock { state in
            state.drop(at: now)
            let ends = state.vaults.values.flatMap { held in
                [held.end, held.lastUse + held.time.idle] + held.shown.values.map(\.end)
            }
            return ends.min().map { $0 - now.sinceBoot }
        }
    }

    /// The vaults that are held for all connections, with the time that is left.
    ///
    /// - Parameter folder: reports only the vaults in this folder; `nil` for all.
    package func status(in folder: FolderIdentity? = nil) -> [AgentStatus.Vault] {
        let now = clock()
        return state.withLock { state in
            state.drop(at: now)
            let shown = state.vaults.filter { place, _ in
                place.connection == 0 && folder ?? place.folder == place.folder
            }
            return shown.map { place, held in
                AgentStatus.Vault(
                    path: place.path, idle: held.lastUse + held.time.idle - now.sinceBoot,
                    total: held.end - now.sinceBoot)
            }.sorted { $0.path < $1.path }
        }
    }
}

// The vault of one request, and what the request learns about its file.
extension HeldVaults {
    /// A vault for one request, after reading its file again if another process has changed it.
    ///
    /// Locks the vault if its file is missing, was replaced by an older or diverged one or by
    /// another vault, or has a new key.
    ///
    /// - Parameters:
    ///   - largest: the size of the largest file that the request may read.
    ///   - mayChange: whether the vault may be changed.
    ///   - reopening: called with the vault if its file was read again.
    package func use(
        _ place: VaultPlace, upTo largest: Int = .max,
        mayChange: @escaping () -> Bool = { true }, reopening: (UnlockedVault) -> Void = { _ in }
    ) throws -> Use {
        func use(of held: Held) -> Use {
            let vault = held.vault.vault()
            vault.mayChange = mayChange
            vault.largestFile = largest
            return Use(vault: vault, unlocking: held.unlocking)
        }
        guard let held = current(place) else { throw RequestRefusal(.notHeld) }
        let stamp = held.vault.stamp()
        if let stamp, stamp == held.stamp { return use(of: held) }
        guard let size = stamp?.size, size > HeldVaults.largestSmallFile else {
            return try refreshed(use(of: held), stamp, at: place, reopening)
        }
        try largeReading.withLock { _ in
            // Another thread may have read the file meanwhile.
            guard let held = current(place) else { throw RequestRefusal(.notHeld) }
            guard stamp != held.stamp else { return }
            guard reserve(size, for: place, held.unlocking) else {
                lock(place, since: held.unlocking)
                throw RequestRefusal(.notHeld)
            }
            _ = try refreshed(use(of: held), stamp, at: place, reopening)
        }
        guard let held = current(place) else { throw RequestRefusal(.notHeld) }
        return use(of: held)
    }

    private func refreshed(
        _ use: Use, _ stamp: FileStamp?, at place: VaultPlace,
        _ reopening: (UnlockedVault) -> Void
    ) throws -> Use {
        let vault = use.vault
        let reason: LockReason
        do throws(VaultError) {
            guard try !vault.refresh() else {
                reopening(vault)
                keep(HeldVault(vault), stamp, of: place, use.unlocking)
                return use
            }
            reason = .olderFile
        } catch {
            switch error {
            case .replaced: reason = .otherVault
            case .rekeyed: reason = .rekeyed
            default:
                // A missing file may have been moved away, and a copy that appears later must not
                // be used without a new unlocking.
                if error == .notFound { lock(place, since: use.unlocking) }
                throw error
            }
        }
        lock(place, since: use.unlocking)
        throw RequestRefusal(.locked(reason))
    }

    /// A vault in its known state, without reading its file again; `nil` if the vault has been
    /// locked since `unlocking`.
    func vault(at place: VaultPlace, since unlocking: UInt64) -> UnlockedVault? {
        guard let held = current(place), held.unlocking == unlocking else { return nil }
        return held.vault.vault()
    }

    /// Records the state of the vault's file that a request has read or saved; locks the vault if
    /// there is no room for it.
    package func learn(from use: Use, of place: VaultPlace) {
        keep(HeldVault(use.vault), nil, of: place, use.unlocking)
    }

    /// The vault, if it is still held since the same unlocking.
    func current(_ place: VaultPlace) -> Held? {
        let now = clock()
        return state.withLock { state in
            state.drop(at: now)
            return state.vaults[place]
        }
    }

    /// Keeps `vault` unless a newer state of the file is known already, and locks it if there is no
    /// room for it.
    func keep(
        _ vault: HeldVault, _ stamp: FileStamp?, of place: VaultPlace, _ unlocking: UInt64
    ) {
        state.withLock { state in
            guard let held = state.vaults[place], held.unlocking == unlocking,
                !held.vault.isNewer(than: vault)
            else { return }
            // Without a stamp, only a newer state replaces the known one.
            guard stamp != nil || vault.isNewer(than: held.vault) else { return }
            // An edit may have enlarged the file.
            guard makeRoom(for: place, size: vault.fileSize, in: &state) else {
                state.vaults[place] = nil
                return
            }
            state.vaults[place]?.size = vault.fileSize
            state.vaults[place]?.vault = vault
            state.vaults[place]?.stamp = stamp
        }
    }
}
