internal import POSIX

/// The one who may write: holds the vault's lock for as long as it lives.
struct VaultWriter: ~Copyable {
    private let location: VaultLocation
    private let folder: Folder
    private let lock: FileLock

    /// Milliseconds that a writer waits for another one.
    static let patience = 5000

    /// Waits for the lock.
    init(_ location: VaultLocation, patience: Int = VaultWriter.patience) throws(VaultError) {
        self.location = location
        let folder = try location.openFolder()
        lock = try VaultWriter.lock(location, in: folder, patience: patience)
        self.folder = folder
    }

    private static func lock(
        _ location: VaultLocation, in folder: borrowing Folder, patience: Int
    ) throws(VaultError) -> FileLock {
        do {
            return try FileLock(location.lock, in: folder, patience: patience)
        } catch {
            switch error {
            case .busy: throw .busy
            case .system(let failure): throw .system(failure)
            }
        }
    }

    /// The file as it is now.
    func read() throws(VaultError) -> [UInt8] { try location.read(location.name, in: folder) }

    /// Whether there is anything at the vault's path.
    func isTaken() throws(VaultError) -> Bool { try location.holdsFile(in: folder) }

    /// The newest generation that was seen here.
    func mark() -> GenerationMark? { GenerationMark.read(location, in: folder) }

    /// Puts the file in its place; the one it replaces is kept as the previous one.
    ///
    /// - Parameter purging: whether no older file stays; ``eraseAllButCurrent()`` is to be called after.
    func save(_ bytes: [UInt8], purging: Bool = false) throws(VaultError) {
        do {
            try vault.replace(
                with: bytes.span, in: folder, previous: purging ? .purged : .kept)
        } catch {
            throw VaultError(error)
        }
    }

    /// Overwrites and removes the previous generation, and what killed writers left.
    func eraseAllButCurrent() throws(VaultError) {
        do { try vault.eraseAllButCurrent(in: folder) } catch { throw VaultError(error) }
    }

    private var vault: FileReplacement {
        FileReplacement(of: location.name, beginningWith: VaultEnvelope.magic)
    }

    /// Writes down that this generation was there, so that an older file is noticed.
    ///
    /// This comes after the saving: a writer killed between the two leaves an older mark, which is no
    /// harm, never a newer one, which would be a false alarm. It can't make the saving fail either.
    ///
    /// - Returns: what is to be reported, if it was not written.
    func writeMark(of document: VaultDocument) -> VaultReport? {
        let mark = GenerationMark(of: document)
        let file = FileReplacement(of: location.mark, beginningWith: GenerationMark.magic)
        do {
            try file.replace(
                with: mark.text.span, in: folder, previous: .none)
            return nil
        } catch {
            return .generationNotMarked(VaultError(error))
        }
    }
}
