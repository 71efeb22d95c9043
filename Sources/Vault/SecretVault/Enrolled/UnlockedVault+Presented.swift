internal import WatchwordSystem

// The record belongs to the folder, not to one vault: it also detects an older secret in a copy of
// the vault that was put there under another name.
extension UnlockedVault {
    /// What was last presented for this enrolment; `nil` if that is unknown.
    ///
    /// - Throws: ``VaultError/inTheWay(name:)`` if an unrelated file has the record's name.
    public func lastPresented(of enrolment: [UInt8]) throws(VaultError) -> PresentedSecret? {
        try location.presented()[enrolment]
    }

    /// Records a secret; call this before it is presented.
    public func record(_ presented: PresentedSecret) throws(VaultError) {
        try location.changePresented { $0.add(presented) }
    }
}

extension VaultLocation {
    /// What was last presented by the vaults in the folder.
    func presented() throws(VaultError) -> PresentedSecrets {
        guard let folder = try openRootFolder() else { return PresentedSecrets() }
        return try PresentedSecrets(in: folder)
    }

    func changePresented(_ change: (inout PresentedSecrets) -> Void) throws(VaultError) {
        let folder = try makeRootFolder()
        // Another vault in this folder may be signing in, too.
        let lock = try PresentedSecrets.lock(in: folder)
        var presented = try PresentedSecrets(in: folder)
        change(&presented)
        let text = presented.text()
        let file = FileReplacement(
            of: VaultLocation.enrolled, beginningWith: PresentedSecrets.firstLine)
        do {
            try file.replace(with: text.span, in: folder, previous: .none)
        } catch {
            throw VaultLocation.rootError(error)
        }
        _ = consume lock
    }
}

extension PresentedSecrets {
    fileprivate static func lock(in folder: borrowing Folder) throws(VaultError) -> FileLock {
        do {
            return try FileLock(
                VaultLocation.enrolledLock, in: folder, timeout: VaultWriter.timeout)
        } catch {
            throw VaultError(
                locking: error, path: VaultLocation.pathInRoot(VaultLocation.enrolledLock))
        }
    }

    /// Reads the record in the folder `.watchword`; empty if there is none.
    ///
    /// A damaged record is treated as missing: otherwise, no sign-in would be possible.
    fileprivate init(in folder: borrowing Folder) throws(VaultError) {
        let bytes: [UInt8]
        do {
            bytes = try folder.readPrivateFile(
                VaultLocation.enrolled, limit: PresentedSecrets.sizeLimit)
        } catch {
            switch error {
            case .missing:
                self.init()
                return
            case .system: throw VaultLocation.rootError(error)
            default: throw .inTheWay(name: VaultLocation.pathInRoot(VaultLocation.enrolled))
            }
        }
        guard bytes.starts(with: PresentedSecrets.firstLine) else {
            throw .inTheWay(name: VaultLocation.pathInRoot(VaultLocation.enrolled))
        }
        do { try self.init(reading: bytes) } catch { self.init() }
    }
}
