internal import WatchwordSystem

/// Exclusive write access to a vault; holds the vault's lock for the lifetime of the value.
struct VaultWriter: ~Copyable {
    let location: VaultLocation
    let folder: Folder
    private let own: Folder
    private let lock: FileLock
    /// The files that could not be erased because they have a second name (a hard link).
    var linked: [LinkedFile] = []

    /// How long a writer waits for the lock.
    static let timeout = Duration.seconds(5)

    /// Takes the lock, waiting at most `timeout`.
    ///
    /// - Throws: ``VaultError/busy``; ``VaultError/previousGeneration``.
    init(_ location: VaultLocation, timeout: Duration = VaultWriter.timeout) throws(VaultError) {
        self.location = location
        let folder = try location.openFolder()
        let own = try location.makeStateFolder()
        lock = try location.lock(VaultLocation.lock, in: own, timeout: timeout)
        self.folder = folder
        self.own = own
    }

    /// The current bytes of the file; throws if it is larger than `largest`.
    func read(upTo largest: Int = .max) throws(VaultError) -> [UInt8] {
        try VaultLocation.read(location.name, in: folder, upTo: largest)
    }

    /// Whether a file of any type exists at the vault's path.
    func isTaken() throws(VaultError) -> Bool { try location.containsFile(in: folder) }

    /// The newest generation seen here under the vault's present name.
    func ownMark() -> GenerationRecord? { GenerationRecord.read(in: own) }

    /// The newest generation of the vault seen here.
    func mark(of vaultID: [UInt8]) -> GenerationRecord? {
        if let mark = ownMark()?.of(vaultID) { return mark }
        return location.formerRecord(of: vaultID)
    }

    /// The previous generation, if it can be read.
    func previous(with key: VaultKey) throws(VaultError) -> KeptGeneration? {
        try KeptGeneration(with: key, in: own)
    }

    /// Creates the first file of the vault `vaultID`.
    ///
    /// - Throws: ``VaultError/inTheWay(name:)`` if a file with that name has appeared in the
    ///   meantime; ``VaultError/previousLeft``.
    mutating func make(_ bytes: [UInt8], of vaultID: [UInt8]) throws(VaultError) {
        guard !VaultLocation.holdsPrevious(in: own) else { throw .previousLeft }
        guard try !VaultError.system(in: own.holds(VaultLocation.previous)) else {
            throw .inTheWay(name: location.path(of: VaultLocation.previous))
        }
        try VaultError.file(
            in: file(of: vaultID).replace(
                with: bytes.span, in: folder, besides: own,
                replacing: FileReplacement.OldFile(.absent), noting: &linked),
            at: location.path(of:))
    }

    /// Replaces the file of the vault `vaultID`; keeps the old file as the previous generation.
    ///
    /// - Parameters:
    ///   - old: the bytes that were read. The file is replaced only if it still contains them.
    ///   - previous: the treatment of the old file, and of those before it. After
    ///     ``FileReplacement/Previous/purged``, the caller must call ``eraseAllButCurrent(of:)``,
    ///     and after ``FileReplacement/Previous/discarded``, ``eraseLeftovers(of:)``.
    /// - Throws: ``VaultError/changedMeanwhile``.
    mutating func save(
        _ bytes: [UInt8], of vaultID: [UInt8], replacing old: [UInt8],
        previous: FileReplacement.Previous
    ) throws(VaultError) {
        // Also erase before saving: a writer that is killed after the save would erase nothing.
        if case .purged = previous {
            try eraseUnderFormerNames(of: vaultID, passingOverLocked: true)
        }
        try VaultError.file(
            in: file(of: vaultID).replace(
                with: bytes.span, in: folder, besides: own,
                replacing: FileReplacement.OldFile(previous, containing: old), noting: &linked),
            at: location.path(of:))
    }

    /// Erases leftovers of killed writers, and the old file after a save that discarded it.
    mutating func eraseLeftovers(of vaultID: [UInt8]) throws(VaultError) {
        try VaultError.file(
            in: file(of: vaultID).eraseLeftovers(in: folder, besides: own, noting: &linked),
            at: location.path(of:))
    }

    /// Replaces secrets with tombstones in the previous generation.
    ///
    /// Under former names, older files of the vault are erased if any of their secrets must be
    /// wiped.
    ///
    /// - Returns: whether the previous generation may be erased if there is no space for two files.
    @discardableResult mutating func wipePrevious(
        _ wipe: OlderFileWipe, of vaultID: [UInt8], leaving tombstone: Tombstone
    ) throws(VaultError) -> Bool {
        try eraseLeftovers(of: vaultID)
        try eraseUnderFormerNames(of: vaultID, ifWipedBy: wipe, passingOverLocked: true)
        let wiped: VaultDocument?
        let mayBeErased: Bool
        do throws(VaultError) {
            let bytes = try VaultLocation.read(VaultLocation.previous, in: own)
            let previous = try VaultDocument(parsing: bytes)
            mayBeErased = !wipe.regardless(previous).isEmpty
            wiped = try previous.wiping(wipe.records(of: previous), leaving: tombstone)
        } catch {
            guard error != .notFound else { return true }
            // A file that cannot be read may contain the secrets.
            guard !wipe.regardless(nil).isEmpty else { return false }
            try eraseOwnButCurrent(of: vaultID)
            return true
        }
        guard let wiped else { return mayBeErased }
        try VaultError.file(
            in: file(of: vaultID).replacePrevious(
                with: wiped.bytes.span, in: folder, besides: own, noting: &linked),
            at: location.path(of:))
        return mayBeErased
    }

    /// Erases the previous generation of the vault `vaultID` and leftovers of killed writers, under
    /// its present and former names.
    mutating func eraseAllButCurrent(of vaultID: [UInt8]) throws(VaultError) {
        try eraseOwnButCurrent(of: vaultID)
        try eraseUnderFormerNames(of: vaultID, passingOverLocked: false)
    }

    /// Erases the same files, but only under the vault's present name.
    mutating func eraseOwnButCurrent(of vaultID: [UInt8]) throws(VaultError) {
        try VaultError.file(
            in: file(of: vaultID).eraseAllButCurrent(in: folder, besides: own, noting: &linked),
            at: location.path(of:))
    }

    /// Erases the file of the vault `vaultID` and all older ones.
    mutating func eraseAll(of vaultID: [UInt8]) throws(VaultError) {
        try eraseAllButCurrent(of: vaultID)
        try VaultError.file(
            in: file(of: vaultID).eraseCurrent(in: folder, besides: own, noting: &linked),
            at: location.path(of:))
        SlotsRecord.remove(in: own)
    }

    /// Removes the record of files with a second name, once they have been reported.
    func removeLinkedRecord() { LinkedFileRecord.remove(in: own) }

    // Only two kinds of file are overwritten: files that begin with this vault's ID, and leftovers
    // of a vault whose creation was interrupted. Those leftovers have a different ID and generation
    // 1, and contain no entries.
    func file(of vaultID: [UInt8]) -> FileReplacement {
        FileReplacement(
            of: location.name, beginningWith: VaultEnvelope.beginning(of: vaultID),
            orLeftover: VaultEnvelope.firstGenerationBeginning)
    }

    /// Records the slots of `document` as the slots that were last used here with the key.
    func recordSlots(of document: VaultDocument) { SlotsRecord.write(document, in: own) }

    /// Records a file that was made without the vault key, as ``write(_:isNew:)`` does.
    func writeGenerationRecord(of document: VaultDocument) -> VaultReport? {
        write(GenerationRecord(of: document, after: mark(of: document.vaultID)))
    }

    /// Records this generation as the newest one seen, so that older files are detected.
    ///
    /// Call this after saving. A writer that is killed in between leaves an older record, which is
    /// harmless; a newer one would cause a false alarm. A failure here does not make the save fail.
    ///
    /// - Parameter isNew: whether the vault was just created, so that the record of a former vault
    ///   with this name is replaced.
    /// - Returns: a warning if the record was not written; otherwise `nil`.
    func write(_ mark: GenerationRecord, isNew: Bool = false) -> VaultReport? {
        if isNew { SlotsRecord.remove(in: own) }
        let file = FileReplacement(
            of: VaultLocation.mark,
            beginningWith: isNew ? Array(GenerationRecord.firstLine.utf8) : mark.beginning)
        do throws(VaultError) {
            try VaultError.file(
                in: file.replace(with: mark.text.span, in: own, previous: .none),
                at: location.path(of:))
            return nil
        } catch {
            return .generationNotRecorded(error)
        }
    }
}

extension VaultWriter {
    /// Replaces these records' secrets with tombstones in the vault and in its previous generation,
    /// without the vault key.
    ///
    /// In each file, the failures must require the wipe according to the record's line in that
    /// file. Only the file that was last saved here, whose lines are unchanged, also decides about
    /// older files. After an interruption, the whole operation can be repeated.
    ///
    /// - Throws: ``VaultError/notConfirmed(_:)`` and ``VaultError/previousNotErased(_:)`` if the
    ///   secrets are wiped, but perhaps not in every file.
    mutating func wipe(
        _ ids: Set<RecordID>, counting attempts: Attempts, leaving tombstone: Tombstone
    ) throws(VaultError) {
        // The person who caused the wipe cannot open the vault. The next person who opens it gets
        // the report.
        defer { LinkedFileRecord.add(linked, in: own) }
        let document = try VaultDocument(parsing: read())
        let slots = document.slotsDigest
        let due = ids.intersection(attempts.due(in: document.countedLines, by: slots))
        let isLastSaved = try isLastSaved(document)
        // Refusals by these slots count only in files that have them. The next save with the key
        // wipes the other older files.
        let older = OlderFileWipe(attempts: attempts) {
            isLastSaved && $0?.slotsDigest ?? slots == slots ? due : []
        }
        // Process the older file first: on a full disk it is erased, and its space is needed.
        let mayErasePrevious = try wipePrevious(
            older, of: document.vaultID, leaving: tombstone)
        guard let wiped = try document.wiping(due, leaving: tombstone) else { return }
        do throws(VaultError) {
            try save(
                wiped.bytes, of: wiped.vaultID, replacing: document.bytes, previous: .discarded)
        } catch .system where mayErasePrevious {
            // The space of the previous generation may be needed.
            try eraseOwnButCurrent(of: document.vaultID)
            try save(
                wiped.bytes, of: wiped.vaultID, replacing: document.bytes, previous: .discarded)
        }
        // Any other file keeps its status as a file that was not saved here.
        if isLastSaved { _ = writeGenerationRecord(of: wiped) }
        try VaultError.erasingOlder(eraseLeftovers(of: document.vaultID))
        try VaultError.erasingOlder(
            eraseUnderFormerNames(
                of: document.vaultID, ifWipedBy: older, passingOverLocked: false))
    }
}

/// The `linked` file: older files of the vault that a wipe without the vault key could not erase,
/// because they have a second name.
///
/// The next process that opens the vault reports them, and the next save with the key removes this
/// file. Like the `generation` file, it is not authenticated.
enum LinkedFileRecord {
    private static let firstLine = "watchword-linked 1\n"
    /// More files than a person is likely to look for.
    private static let limit = 16
    private static let sizeLimit = 1024

    private static var file: FileReplacement {
        FileReplacement(of: VaultLocation.linked, beginningWith: Array(firstLine.utf8))
    }

    /// The recorded files of the vault file at `location`.
    static func read(of location: VaultLocation) throws(VaultError) -> [LinkedFile] {
        guard let own = try location.openStateFolder() else { return [] }
        return read(in: own)
    }

    /// The recorded files; empty if there is no record, or if it cannot be read.
    ///
    /// - Parameter own: the folder of the files that belong to the vault file.
    static func read(in own: borrowing Folder) -> [LinkedFile] {
        let bytes = ifPossible(try own.readPrivateFile(VaultLocation.linked, limit: sizeLimit))
        guard let bytes, bytes.starts(with: firstLine.utf8) else { return [] }
        return bytes.dropFirst(firstLine.utf8.count).split(separator: UInt8(ascii: "\n"))
            .compactMap { UInt64(String(decoding: $0, as: UTF8.self)) }
            .prefix(limit).map { LinkedFile(number: $0) }
    }

    /// Adds `files` to the record.
    ///
    /// If adding them fails, the files are not reported; the wipe is not affected.
    static func add(_ files: [LinkedFile], in own: borrowing Folder) {
        guard !files.isEmpty else { return }
        let all = (read(in: own) + files).suffix(limit)
        let text = firstLine + all.map { "\($0.number)\n" }.joined()
        _ = ifPossible(
            try file.replace(with: Array(text.utf8).span, in: own, previous: .none))
    }

    /// Removes the record, once its files have been reported.
    static func remove(in own: borrowing Folder) {
        _ = ifPossible(try file.remove(in: own))
    }
}
