internal import WatchwordSystem

/// The previous generation beside a vault: what shows whether the vault includes it.
struct KeptGeneration {
    private let generation: UInt64
    /// Its saves; `nil` if it has another key.
    private let history: VaultHistory?

    /// Reads the previous generation; `nil` if there is none of this vault that can be read.
    ///
    /// - Parameter own: the folder of the files that belong to the vault file.
    /// - Throws: ``VaultError/system(_:)`` if a system call failed, so that this is not known.
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

    /// Whether it is an earlier state of this one, so that another generation may take its place.
    ///
    /// If the file was replaced by an older or a diverged one, it is not.
    func isIncluded(
        in state: VaultState, with key: VaultKey, after mark: GenerationRecord?
    ) throws(VaultError) -> Bool {
        let other = state.history
        guard let history else {
            // The vault was given another key. Only the number can be compared, and the last save
            // here.
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
    /// What to report if the previous generation has saves that this state lacks.
    ///
    /// What cannot be read is not reported here: the vault opens, and saving it reports the error.
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

/// Which records' secrets a wipe takes from an older file of the vault.
struct OlderFileWipe {
    /// The failures that are counted beside the vault.
    let attempts: Attempts
    /// The records that are wiped whatever the older file says about them; `nil` stands for a file
    /// that cannot be read.
    let regardless: (VaultDocument?) -> Set<RecordID>

    /// The records to wipe in `older`: also those that must be wiped according to their own lines.
    ///
    /// Anybody who can write the vault can change the lines there, so they alone decide nothing
    /// here.
    func records(of older: VaultDocument) -> Set<RecordID> {
        regardless(older).union(attempts.due(in: older.countedLines, by: older.slotsDigest))
    }
}
