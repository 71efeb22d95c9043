internal import POSIX

extension VaultWriter {
    /// Overwrites and removes what is kept of the vault `vaultID` under names that no file has any more:
    /// the vault was renamed.
    ///
    /// Where a file still has the name, what is kept belongs to that file, such as a copy of this vault.
    ///
    /// - Parameter passingOverLocked: whether a folder that somebody else has locked is left for later;
    ///   otherwise that is an error, once all others are done.
    func eraseUnderFormerNames(of vaultID: [UInt8], passingOverLocked: Bool) throws(VaultError) {
        var failure: VaultError?
        for former in try location.others() {
            do throws(VaultError) {
                try erase(of: vaultID, under: former, passingOverLocked: passingOverLocked)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func erase(
        of vaultID: [UInt8], under former: VaultLocation, passingOverLocked: Bool
    ) throws(VaultError) {
        guard try !former.holdsFile(in: folder), let own = try privateFolder(of: former) else {
            return
        }
        // The working files may share their blocks with the vault as it is now named.
        let file = file(of: vaultID)
        do {
            guard try file.holdsGeneration(in: own) else { return }
        } catch {
            throw former.error(error)
        }
        let lock: FileLock
        do {
            lock = try former.lock(
                VaultLocation.lock, in: own,
                timeout: passingOverLocked ? .zero : VaultWriter.timeout)
        } catch .busy {
            if passingOverLocked { return }
            throw .system(FileLockError.busy.failure)
        }
        // Somebody may have made a file of that name meanwhile.
        guard try !former.holdsFile(in: folder) else { return }
        do {
            try file.eraseAllButCurrent(in: folder, besides: own)
        } catch {
            throw former.error(error)
        }
        _ = consume lock
    }

    // What is no folder of the program's holds nothing of the vault's.
    private func privateFolder(of former: VaultLocation) throws(VaultError) -> Folder? {
        do throws(VaultError) {
            return try former.openOwn()
        } catch .inTheWay {
            return nil
        }
    }
}
