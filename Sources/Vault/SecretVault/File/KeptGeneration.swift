internal import WatchwordSystem

/// The data about the previous generation beside a vault that show whether the vault includes it.
struct KeptGeneration {
    private let generation: UInt64
    /// The saves of the previous generation; `nil` if its key is different.
    private let history: VaultHistory?

    /// Reads the previous generation; `nil` if this vault has none, or none that can be read.
    ///
    /// - Parameter own: the folder of the files that belong to the vault file.
    /// - Throws: ``VaultError/system(_:)`` if a system call failed, so that neither is known.
    init?(with key: VaultKey, in own: borrowing Folder) throws(VaultError) {
        let document: VaultDocument
        do throws(VaultError) {
            document = try VaultDocument(
                parsing: VaultLocation.read(VaultLocation.previous, in: own))
        } catch {
            guard case .system = error else { return nil }
            throw error
        }
        guard document.vaultID == key.vaultID else { return nil }
        generation = document.generation
        history = ifPossible(try Manifest(opening: document, with: key).history)
    }

    /// Whether the previous generation is an earlier state of `state`, so that a newer one may
    /// replace it.
    ///
    /// This is not the case if an older or a diverged file has replaced the vault.
    func isIncluded(
        in state: VaultState, with key: VaultKey, after mark: GenerationRecord?
    ) throws(VaultError) -> Bool {
        let other = state.history
        guard let history else {
            // The vault was rekeyed. Only the generation number and the last save here can be
            // compared.
            guard try mark?.isFollowed(by: state, with: key) != false else { return false }
            return other.mayHaveHad(saveOfGeneration: generation)
                || other.saves.contains { $0.generation == generation }
        }
        return other.mayHaveHad(saveOfGeneration: generation) || other.includes(history)
    }
}

extension Vault {
    /// The size of the previous generation of the vault at `path`; 0 if there is none.
    package static func previousSize(at path: String) -> Int {
        let previous = ifPossible(try VaultLocation(path).previousPath)
        return Int(clamping: previous.flatMap(FileStamp.init(of:))?.size ?? 0)
    }
}

extension VaultLocation {
    /// The warning if the previous generation has saves that this state lacks; otherwise `nil`.
    ///
    /// A generation that cannot be read is not reported here: the vault opens, and the next save
    /// reports the error.
    func unmergedPrevious(
        of state: VaultState, with key: VaultKey, after mark: GenerationRecord?
    ) -> VaultReport? {
        let isIncluded = ifPossible(try isPreviousIncluded(in: state, with: key, after: mark))
        return isIncluded == false ? .unmergedPrevious(path: previousPath) : nil
    }

    private func isPreviousIncluded(
        in state: VaultState, with key: VaultKey, after mark: GenerationRecord?
    ) throws(VaultError) -> Bool {
        guard let own = try openStateFolder(), let kept = try KeptGeneration(with: key, in: own)
        else { return true }
        return try kept.isIncluded(in: state, with: key, after: mark)
    }

    /// The path of the previous generation.
    fileprivate var previousPath: String {
        path(beside: VaultLocation.path(of: VaultLocation.previous, in: ownParts))
    }
}

/// Decides which records a wipe also wipes in an older file of the vault.
struct OlderFileWipe {
    /// The failures that are counted beside the vault.
    let attempts: Attempts
    /// The records that are wiped regardless of their lines in the older file; `nil` stands for a
    /// file that cannot be read.
    let regardless: (VaultDocument?) -> Set<RecordID>

    /// The records to wipe in `older`: including those that must be wiped according to their own
    /// lines there.
    ///
    /// Anyone who can write the vault can change its lines, so the lines in the vault alone do not
    /// decide about the older file.
    func records(of older: VaultDocument) -> Set<RecordID> {
        regardless(older).union(attempts.due(in: older.countedLines, by: older.slotsDigest))
    }
}
