internal import POSIX

/// The one who may write: holds the vault's lock for as long as it lives.
struct VaultWriter: ~Copyable {
    let location: VaultLocation
    let folder: Folder
    private let own: Folder
    private let lock: FileLock

    /// How long a writer waits for another one.
    static let timeout = Duration.seconds(5)

    /// Waits for the lock.
    ///
    /// - Throws: ``VaultError/busy``; ``VaultError/keptGeneration``.
    init(_ location: VaultLocation, timeout: Duration = VaultWriter.timeout) throws(VaultError) {
        self.location = location
        let folder = try location.openFolder()
        let own = try location.makeOwn()
        lock = try location.lock(VaultLocation.lock, in: own, timeout: timeout)
        self.folder = folder
        self.own = own
    }

    /// The file as it is now.
    func read() throws(VaultError) -> [UInt8] { try VaultLocation.read(location.name, in: folder) }

    /// Whether there is anything at the vault's path.
    func isTaken() throws(VaultError) -> Bool { try location.holdsFile(in: folder) }

    /// The newest generation that was seen here.
    func mark() -> GenerationMark? { GenerationMark.read(in: own) }

    /// Puts the first file of the vault `vaultID` in its place.
    ///
    /// - Throws: ``VaultError/inTheWay(name:)`` when somebody has made a file of that name meanwhile, or
    ///   where another vault of this name has left its previous generation.
    func make(_ bytes: [UInt8], of vaultID: [UInt8]) throws(VaultError) {
        guard try !holdsPrevious() else {
            throw location.error(.inTheWay(name: VaultLocation.previous))
        }
        do {
            try file(of: vaultID).replace(
                with: bytes.span, in: folder, besides: own, previous: .absent)
        } catch {
            throw location.error(error)
        }
    }

    private func holdsPrevious() throws(VaultError) -> Bool {
        do { return try own.holds(VaultLocation.previous) } catch { throw .system(error) }
    }

    /// Puts a file of the vault `vaultID` in its place; the one it replaces is kept as the previous one.
    ///
    /// - Parameters:
    ///   - old: what was read. Only a file that still holds this is replaced.
    ///   - purging: whether no older file stays; ``eraseAllButCurrent(of:)`` is to be called after.
    /// - Throws: ``VaultError/changedMeanwhile``.
    func save(
        _ bytes: [UInt8], of vaultID: [UInt8], replacing old: [UInt8], purging: Bool
    ) throws(VaultError) {
        // A writer that is killed after the saving leaves what it was to erase.
        if purging { try eraseUnderFormerNames(of: vaultID, passingOverLocked: true) }
        do {
            try file(of: vaultID).replace(
                with: bytes.span, in: folder, besides: own, previous: purging ? .purged : .kept,
                expecting: old)
        } catch {
            throw location.error(error)
        }
    }

    /// Overwrites and removes the previous generation of the vault `vaultID`, and what killed writers
    /// left, also under names that the vault had before.
    func eraseAllButCurrent(of vaultID: [UInt8]) throws(VaultError) {
        try eraseOwnButCurrent(of: vaultID)
        try eraseUnderFormerNames(of: vaultID, passingOverLocked: false)
    }

    /// The same under the vault's present name only.
    func eraseOwnButCurrent(of vaultID: [UInt8]) throws(VaultError) {
        do {
            try file(of: vaultID).eraseAllButCurrent(in: folder, besides: own)
        } catch {
            throw location.error(error)
        }
    }

    // Only a file that says it is this vault's is ever overwritten. A vault that somebody was killed at
    // making has another ID, and is known by its first generation, which holds no entries.
    func file(of vaultID: [UInt8]) -> FileReplacement {
        FileReplacement(
            of: location.name, beginningWith: VaultEnvelope.beginning(of: vaultID),
            orLeftover: VaultEnvelope.beginningOfFirst)
    }

    /// Writes down that this generation was there, so that an older file is noticed.
    ///
    /// This comes after the saving: a writer killed between the two leaves an older mark, which is no
    /// harm, never a newer one, which would be a false alarm. It can't make the saving fail either.
    ///
    /// - Returns: what is to be reported, if it was not written.
    func writeMark(of document: VaultDocument) -> VaultReport? {
        let mark = GenerationMark(of: document)
        let file = FileReplacement(of: VaultLocation.mark, beginningWith: mark.beginning)
        do {
            try file.replace(with: mark.text.span, in: own, previous: .none)
            return nil
        } catch {
            return .generationNotMarked(location.error(error))
        }
    }
}
