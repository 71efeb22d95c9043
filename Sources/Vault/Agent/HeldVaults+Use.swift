internal import SecretVault
internal import Synchronization
package import VaultService
internal import WatchwordSystem

// The vault of one request, and what the request learns about its file.
extension HeldVaults {
    /// A vault for one request, after reading its file again if another process has changed it.
    ///
    /// Locks the vault if its file is missing, was replaced by an older or diverged one or by another
    /// vault, or has a new key.
    ///
    /// - Parameters:
    ///   - largest: the size of the largest file that the request may read.
    ///   - mayChange: whether the vault may be changed.
    package func use(
        _ place: VaultPlace, upTo largest: Int = .max,
        mayChange: @escaping () -> Bool = { true }
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
            return try refreshed(use(of: held), stamp, at: place)
        }
        try largeReading.withLock { _ in
            // Another thread may have read it meanwhile.
            guard let held = current(place) else { throw RequestRefusal(.notHeld) }
            guard stamp != held.stamp else { return }
            guard reserve(size, for: place, held.unlocking) else {
                lock(place, since: held.unlocking)
                throw RequestRefusal(.notHeld)
            }
            _ = try refreshed(use(of: held), stamp, at: place)
        }
        guard let held = current(place) else { throw RequestRefusal(.notHeld) }
        return use(of: held)
    }

    private func refreshed(
        _ use: Use, _ stamp: FileStamp?, at place: VaultPlace
    ) throws -> Use {
        let vault = use.vault
        let reason: LockReason
        do {
            guard try !vault.refresh() else {
                keep(HeldVault(vault), stamp, of: place, use.unlocking)
                return use
            }
            reason = .olderFile
        } catch VaultError.replaced {
            reason = .otherVault
        } catch VaultError.rekeyed {
            reason = .rekeyed
        } catch VaultError.notFound {
            // It may have been moved away; a copy that appears later is not used without asking.
            lock(place, since: use.unlocking)
            throw VaultError.notFound
        }
        lock(place, since: use.unlocking)
        throw RequestRefusal(.locked(reason))
    }

    /// A vault as it is known, without reading its file again; `nil` if it has been locked since
    /// `unlocking`.
    func vault(at place: VaultPlace, since unlocking: UInt64) -> UnlockedVault? {
        guard let held = current(place), held.unlocking == unlocking else { return nil }
        return held.vault.vault()
    }

    /// Records what a request has learned about the file of its vault, above all what it saved; locks
    /// the vault if there is no room for it.
    package func learn(from use: Use, of place: VaultPlace) {
        keep(HeldVault(use.vault), nil, of: place, use.unlocking)
    }

    /// The vault, if it is held.
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
            // Without a stamp, only a newer state is news.
            guard stamp != nil || vault.isNewer(than: held.vault) else { return }
            // An edit may have enlarged it.
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
