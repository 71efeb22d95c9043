internal import Devices
internal import SecretVault
internal import VaultService
internal import WatchwordSystem

// Moving a user's vault to and from the system agent.
//
// After any interruption, one complete copy exists, at most one copy can be used, and the same
// command finishes the move. The agent confirms a copy before the client erases the original; from
// then on, only a later state of the same vault with the same key replaces the copy.
//
// The device keys are copied first, and are replaced when the vault has arrived, so no step depends
// on a key that may not be on disk yet.
extension AgentServices {
    /// Carries out one step of a move.
    func carryOut(
        _ move: VaultMove, for account: SystemAccount, _ person: RemotePerson
    ) throws -> AgentResponse {
        if case .receive = move { try account.makeFolder() }
        let lock = try account.lock()
        let response = try carryOutLocked(move, for: account, person)
        _ = consume lock
        return response
    }

    private func carryOutLocked(
        _ move: VaultMove, for account: SystemAccount, _ person: RemotePerson
    ) throws -> AgentResponse {
        let path = account.path
        let exists = try Vault.isTaken(path)
        switch move {
        case .receive(let parcel, let opener, let ceiling):
            // A copy that does not open is never stored.
            let ceiling = AgentRequest.ceiling(for: ceiling, upTo: Vault.defaultCeiling)
            if exists, try parcel.sharesPassphrase(withVaultAt: path) {
                // The passphrase is a guess at that of the agent's copy, so it is tried there.
                try verify(opener, ceiling, for: account)
            }
            let opened = try deriving(upTo: ceiling, with: { nil }) {
                try parcel.opened(with: opener, ceiling: ceiling)
            }
            guard exists else {
                try account.setMoving(.arriving)
                try parcel.keepDeviceKeys(in: deviceKeys)
                try Vault.unpack(parcel, at: path)
                break
            }
            try receive(opened, replacing: Vault.identity(at: path), for: account)
        case .confirm(let identity):
            guard exists, try Vault.identity(at: path) == identity else {
                throw VaultError.changedMeanwhile
            }
            guard account.isMoving() else { break }
            switch account.moveState() {
            case .arriving, .confirmed: try account.setMoving(.confirmed)
            case .leaving, nil: throw VaultError.changedMeanwhile
            }
        case .activate(let opener, let ceiling):
            guard exists else { throw VaultError.notFound }
            let vault = try verify(opener, ceiling, for: account)
            let bound = account.isMoving() ? try replaceKeys(of: vault, for: account) : nil
            try account.setMoving(nil)
            if let bound { return .moved(bound) }
        case .give(let opener, let ceiling):
            guard exists else { throw VaultError.notFound }
            let vault = try verify(opener, ceiling, for: account)
            let keys = try keys(forMoving: vault, of: account, person)
            return .parcel(try given(vault, with: keys, for: account))
        case .discard(let opener, let identity, let ceiling):
            guard exists else {
                // An earlier request may have been interrupted while it erased the copy, or after
                // the device keys had arrived, but before the vault.
                let state = account.moveState()
                guard state == .leaving || state == .arriving else { break }
                try erase(identity, of: account)
                break
            }
            let present = try Vault.identity(at: path)
            guard account.moveState() == .leaving, identity.isSameVault(as: present),
                !identity.isOlder(than: present)
            else { throw VaultError.changedMeanwhile }
            try verify(opener, ceiling, for: account)
            try erase(present, of: account)
        }
        return .done
    }

    /// Erases the agent's copy in this state, and the files that the agent keeps for it.
    private func erase(_ identity: VaultIdentity, of account: SystemAccount) throws {
        try Vault.purge(account.path, in: identity)
        try deviceKeys.eraseAll(of: identity)
        account.forgetFingers()
        try account.setMoving(nil)
    }

    /// Binds the entries of a vault that has arrived to a key of this computer.
    private func replaceKeys(
        of vault: UnlockedVault, for account: SystemAccount
    ) throws -> DeviceBinding? {
        let carried = deviceKeys.homes(of: vault)
        guard !carried.isEmpty else { return nil }
        return try holding(vault, of: account) { place, unlocking in
            try deviceKeys.replaceKeys(of: vault, carried: carried) {
                address throws(VaultError) in
                try tokens(at: address, in: place, unlocking)
            }
        }
    }

    /// Makes the presence check that would not be required to read the file itself: if there are
    /// entries that accept only PAM, checks one of them.
    ///
    /// - Returns: the device keys that move with the vault.
    private func keys(
        forMoving vault: UnlockedVault, of account: SystemAccount, _ person: RemotePerson
    ) throws -> [DeviceKey] {
        let entry = vault.entries.first { entry in
            entry.requiresCheckPerUse && entry.accessControl.presence == .perUse(.pam)
        }
        guard entry != nil || !deviceKeys.homes(of: vault).isEmpty else { return [] }
        return try holding(vault, of: account) { place, unlocking in
            if let entry {
                var check = RelayedCheck<Enforced>(
                    relay(in: place, unlocking), person, user: account.user, for: entry.name)
                _ = try vault.proof(of: &check, for: entry.id, words: "") {
                    vaults.isHeld(place, unlocking)
                }
            }
            return try deviceKeys.keysToMove(of: vault) { address throws(VaultError) in
                try tokens(at: address, in: place, unlocking)
            }
        }
    }

    /// Runs `body`, which waits for a person or a TPM, while the vault is held for the move only.
    private func holding<Result>(
        _ vault: UnlockedVault, of account: SystemAccount,
        _ body: (VaultPlace, UInt64) throws -> Result
    ) throws -> Result {
        guard let place = account.place()?.only(for: AgentServices.moveNumber) else {
            throw VaultError.notFound
        }
        // The check needs the key, so locking the vault ends the check.
        let unlocking = vaults.beginUnlocking(place)
        defer { vaults.lock(place) }
        guard vaults.hasRoom(for: place, size: FileStamp(of: account.path)?.size ?? 0) else {
            throw VaultError.busy
        }
        guard vaults.hold(HeldVault(vault), for: .standard, unlocking) else {
            throw RequestRefusal(.notHeld)
        }
        return try body(place, unlocking)
    }

    /// A number that no connection has: the vault being moved is held only for the move.
    private static let moveNumber = UInt64.max

    /// Verifies that `opener` opens the vault; failures are counted.
    @discardableResult
    private func verify(
        _ opener: VaultOpener, _ ceiling: Int, for account: SystemAccount
    ) throws -> UnlockedVault {
        let ceiling = AgentRequest.ceiling(for: ceiling, upTo: Vault.defaultCeiling)
        return try deriving(upTo: ceiling, with: { try Vault.slots(at: account.path) }) {
            try Vault.unlock(
                at: account.path, with: opener, ceiling: ceiling, mode: .leavingWipes)
        }
    }

    /// A copy for the client; from now on, the agent's copy cannot be used or changed.
    private func given(
        _ vault: UnlockedVault, with keys: [DeviceKey], for account: SystemAccount
    ) throws -> VaultParcel {
        let wasMoving = account.isMoving()
        try account.setMoving(.leaving)
        if let place = account.place() { vaults.lockAll(in: place.folder) }
        do {
            return try deviceKeys.pack(vault, with: keys, at: account.path)
        } catch {
            // Packing fails while an earlier request is still running; the vault can then be used
            // again.
            if !wasMoving { try account.setMoving(nil) }
            throw error
        }
    }

    /// Stores a copy in place of an existing one.
    private func receive(
        _ opened: OpenedParcel, replacing present: VaultIdentity, for account: SystemAccount
    ) throws {
        guard opened.identity != present else {
            if account.isMoving() { try opened.parcel.keepDeviceKeys(in: deviceKeys) }
            if account.isMoving(), account.moveState() != .arriving {
                try account.setMoving(.confirmed)
            } else if account.isMoving() {
                // An earlier attempt may have failed before the copy's name was on disk.
                try account.setMoving(.arriving)
            }
            return
        }
        guard account.isMoving() else { throw VaultError.alreadyExists }
        guard opened.identity.isSameVault(as: present), !opened.identity.isOlder(than: present)
        else { throw VaultError.otherVault }
        if account.moveState() != .arriving {
            // The stored copy may be the only one. It may be replaced only by a later state with
            // the same key.
            guard try opened.includes(account.path) else { throw VaultError.otherVault }
        }
        try opened.parcel.keepDeviceKeys(in: deviceKeys)
        try Vault.replace(account.path, in: present, with: opened)
        try account.setMoving(.arriving)
    }
}

extension SystemAccount {
    private static let lockName = "move.lock"

    /// Creates the user's folder unless it exists.
    fileprivate func makeFolder() throws {
        let state = try Folder(opening: stateFolder)
        do throws(FileError) { _ = try state.makePrivateFolder("\(user)") } catch {
            guard case .system(let failure) = error else {
                throw VaultError.inTheWay(name: "\(user)")
            }
            throw failure
        }
    }

    /// Takes the lock for moving the user's vault.
    fileprivate func lock() throws -> FileLock {
        do throws(FileError) {
            let folder: Folder
            do { folder = try Folder(opening: self.folder) } catch { throw .system(error) }
            return try FileLock(SystemAccount.lockName, in: folder, timeout: .seconds(5))
        } catch {
            guard case .system(let failure) = error else { throw VaultError.busy }
            throw failure.isMissing ? VaultError.notFound : .system(failure)
        }
    }
}
