internal import WatchwordSystem

extension VaultWriter {
    /// Erases older files of the vault `vaultID` under former names that no file has any more.
    ///
    /// If a file still has such a name, the older files belong to that file, which may be a copy of
    /// this vault.
    ///
    /// - Parameters:
    ///   - wipe: if not `nil`, only files with secrets that must be wiped are erased.
    ///   - passingOverLocked: whether to skip a folder that another process has locked. Otherwise,
    ///     a locked folder is an error, thrown after all other folders have been processed.
    mutating func eraseUnderFormerNames(
        of vaultID: [UInt8], ifWipedBy wipe: OlderFileWipe? = nil, passingOverLocked: Bool
    ) throws(VaultError) {
        var failure: VaultError?
        for former in try location.others() {
            do throws(VaultError) {
                try erase(
                    of: vaultID, under: former, ifWipedBy: wipe,
                    passingOverLocked: passingOverLocked)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private mutating func erase(
        of vaultID: [UInt8], under former: VaultLocation, ifWipedBy wipe: OlderFileWipe?,
        passingOverLocked: Bool
    ) throws(VaultError) {
        guard try !former.containsFile(in: folder), let own = try former.openFormerFolder() else {
            return
        }
        // The working files may share blocks with the vault under its present name.
        let file = file(of: vaultID)
        guard
            try VaultError.file(in: file.holdsGeneration(in: own), at: former.path(of:))
        else { return }
        let lock: FileLock
        do {
            lock = try former.lock(
                VaultLocation.lock, in: own,
                timeout: passingOverLocked ? .zero : VaultWriter.timeout)
        } catch .busy {
            if passingOverLocked { return }
            throw .system(FileLock.busyFailure)
        }
        // A file with that name may have appeared in the meantime.
        guard try !former.containsFile(in: folder), isTaken(by: wipe, in: own) else { return }
        try VaultError.file(
            in: file.eraseAllButCurrent(in: folder, besides: own, noting: &linked),
            at: former.path(of:))
        _ = consume lock
    }

    private func isTaken(by wipe: OlderFileWipe?, in own: borrowing Folder) -> Bool {
        guard let wipe else { return true }
        let kept = ifPossible(
            try VaultDocument(parsing: VaultLocation.read(VaultLocation.previous, in: own)))
        return !(kept.map(wipe.records) ?? wipe.regardless(nil)).isEmpty
    }

    /// Whether this is the newest file that was saved or opened here, under the vault's present or,
    /// if nothing was saved or opened under that, a former name.
    ///
    /// Such a file was not changed without the key.
    func isLastSaved(_ document: VaultDocument) throws(VaultError) -> Bool {
        if let mark = ownMark() { return mark.isRecord(of: document) }
        for former in try location.others() {
            if let own = try former.openFormerFolder(), let mark = GenerationRecord.read(in: own),
                mark.isRecord(of: document)
            {
                return true
            }
        }
        return false
    }
}

extension VaultLocation {
    /// The newest generation record of the vault under former names that no file has any more;
    /// `nil` if no record can be read.
    ///
    /// If a file still has such a name, the record belongs to that file.
    func formerRecord(of vaultID: [UInt8]) -> GenerationRecord? {
        var newest: GenerationRecord?
        guard !isKept else { return nil }
        do throws(VaultError) {
            let folder = try openFolder()
            for former in try others() where try !former.containsFile(in: folder) {
                guard let own = try former.openFormerFolder(),
                    let record = GenerationRecord.read(in: own)?.of(vaultID)
                else { continue }
                let age = newest.map { ($0.generation, $0.changes) } ?? (0, 0)
                if (record.generation, record.changes) > age { newest = record }
            }
        } catch _ {}
        return newest
    }

    /// Opens the folder for a vault file's former name; `nil` if there is none.
    ///
    /// A folder that the program did not create contains no file of the vault.
    fileprivate func openFormerFolder() throws(VaultError) -> Folder? {
        do throws(VaultError) {
            return try openStateFolder()
        } catch .inTheWay {
            return nil
        }
    }

    /// Records the file that was opened here with its key, so that an older file is detected.
    ///
    /// If the vault cannot be written now, it opens anyway.
    ///
    /// - Parameters:
    ///   - seen: the newest generations that are known.
    ///   - recordsSlots: whether to record the slots, too.
    func record(
        opened document: VaultDocument, _ state: VaultState, with key: VaultKey,
        after seen: SeenGenerations, recordsSlots: Bool = false
    ) {
        do throws(VaultError) {
            let found = try GenerationRecord(
                of: document, opening: state, with: key, after: seen.newest)
            guard recordsSlots || found != nil && found != seen.own else { return }
            let writer = try VaultWriter(self, timeout: .zero)
            if recordsSlots { writer.recordSlots(of: document) }
            // Another process may have saved the vault in the meantime.
            let newest = writer.mark(of: document.vaultID)
            if let found = try GenerationRecord(
                of: document, opening: state, with: key, after: newest)
            {
                _ = writer.write(found)
            }
        } catch _ {}
    }
}
