internal import POSIX
internal import SecretVault
internal import VaultAgent

// Moving a user's vault to and from the system agent.
//
// Whatever is interrupted, one complete copy exists, at most one can be used, and the same command
// finishes the move.
extension AgentServices {
    /// Carries out one step.
    func carryOut(_ move: VaultMove, for account: SystemAccount) -> AgentResponse {
        do throws(VaultError) {
            if case .receive = move { try account.makeFolder() }
            let lock = try account.lock()
            let response = try carryOutLocked(move, for: account)
            _ = consume lock
            return response
        } catch {
            return .failed(error)
        }
    }

    private func carryOutLocked(
        _ move: VaultMove, for account: SystemAccount
    ) throws(VaultError) -> AgentResponse {
        let path = account.path
        let exists = try Vault.isTaken(path)
        switch move {
        case .receive(let parcel, let opener, let ceiling):
            if exists {
                guard account.isMoving() else { throw .alreadyExists }
                // The copy of an earlier attempt may be the only one.
                let present = try Vault.identity(at: path)
                guard parcel.identity.isSameVault(as: present),
                    !parcel.identity.isOlder(than: present)
                else { throw .otherVault }
                try account.verify(opener, ceiling)
                try Vault.purge(path, in: Vault.identity(at: path))
            }
            try account.setMoving(true)
            try Vault.unpack(parcel, at: path)
            try account.verify(opener, ceiling)
        case .activate(let opener, let ceiling):
            guard exists else { throw .notFound }
            try account.verify(opener, ceiling)
            try account.setMoving(false)
        case .give(let opener, let ceiling):
            guard exists else { throw .notFound }
            try account.verify(opener, ceiling)
            try account.setMoving(true)
            if let place = account.place() { vaults.lockAll(in: place.folder) }
            return .parcel(try Vault.pack(path))
        case .discard(let opener, let identity, let ceiling):
            guard exists else { return .done }
            let present = try Vault.identity(at: path)
            guard account.isMoving(), identity.isSameVault(as: present),
                !identity.isOlder(than: present)
            else { throw .changedMeanwhile }
            try account.verify(opener, ceiling)
            try Vault.purge(path, in: present)
            try account.setMoving(false)
        }
        return .done
    }
}

extension SystemAccount {
    private static let lockName = "move.lock"

    /// Creates the user's folder, unless it exists.
    fileprivate func makeFolder() throws(VaultError) {
        do throws(PrivateFileError) {
            let state: Folder
            do { state = try Folder(opening: stateFolder) } catch { throw .system(error) }
            _ = try state.makePrivateFolder("\(user)")
        } catch .system(let failure) {
            throw .system(failure)
        } catch {
            throw .inTheWay(name: "\(user)")
        }
    }

    /// Takes the lock for moving the user's vault.
    fileprivate func lock() throws(VaultError) -> FileLock {
        do throws(PrivateFileError) {
            let folder: Folder
            do { folder = try Folder(opening: self.folder) } catch { throw .system(error) }
            return try FileLock(SystemAccount.lockName, in: folder, timeout: .seconds(5))
        } catch .system(let failure) {
            throw failure.isMissing ? .notFound : .system(failure)
        } catch {
            throw .busy
        }
    }

    /// Verifies what opens the vault; failures are counted.
    fileprivate func verify(_ opener: VaultOpener, _ ceiling: Int) throws(VaultError) {
        _ = try Vault.unlock(
            at: path, with: opener, ceiling: min(ceiling, Vault.defaultCeiling),
            savesWipes: false)
    }
}
