internal import WatchwordCryptography
internal import WatchwordSystem

/// The content of the `generation` file beside the vault: the newest generation saved or opened
/// here, the digest of that file, and the saves that the file must contain.
///
/// It is not authenticated. It detects mistakes (a backup restored over a newer vault) and
/// attackers who can change one file but not the other.
struct GenerationRecord: Hashable {
    let vaultID: [UInt8]
    let generation: UInt64
    let changes: UInt64
    /// The digest in the vault file's last line, which identifies the file.
    let digest: [UInt8]
    /// The newest rekey that was seen here; `nil` if there was none.
    var rekey: KnownSave?
    /// The last save that was made here; `nil` if it is not known.
    var save: KnownSave?

    /// A save that was seen here.
    struct KnownSave: Hashable {
        let generation: UInt64
        /// The first bytes of SHA-256 of its ID: with the ID itself, a reader of this record could
        /// insert the save into the history of a file with a former key.
        let digest: [UInt8]

        static let digestCount = 16

        init(_ save: VaultHistory.Save) {
            generation = save.generation
            digest = KnownSave.digest(of: save.id)
        }

        fileprivate init(generation: UInt64, digest: [UInt8]) {
            (self.generation, self.digest) = (generation, digest)
        }

        fileprivate static func digest(of id: SaveID) -> [UInt8] {
            Array(sha256(id.bytes.span).prefix(digestCount))
        }

        /// Whether a file with this history was saved before this save, or independently of it.
        func isMissing(in history: VaultHistory) -> Bool {
            guard !history.mayHaveDropped(savesUpTo: generation) else { return false }
            for save in history.saves where save.generation == generation {
                if KnownSave.digest(of: save.id) == digest { return false }
            }
            return true
        }
    }

    static let firstLine = "watchword-generation 1\n"
    static let sizeLimit = 1024

    var text: [UInt8] {
        var text = VaultText()
        text.write(beginning)
        text.write("\(generation) \(changes) ")
        text.writeBase64(digest)
        text.endLine()
        for (word, known) in [("rekey", rekey), ("save", save)] {
            guard let known else { continue }
            text.write("\(word) \(known.generation) ")
            text.writeBase64(known.digest)
            text.endLine()
        }
        return text.bytes
    }

    /// The beginning of every generation record of this vault, and of no other vault.
    var beginning: [UInt8] {
        var text = VaultText()
        text.write(GenerationRecord.firstLine)
        text.writeBase64(vaultID)
        text.write(" ")
        return text.bytes
    }

    /// The warning about a file of this vault that is older than the newest one seen, has the same
    /// generation but different content, or lacks the last save made here; `nil` if there is
    /// nothing to report.
    ///
    /// - Parameter history: the saves of the file.
    func report(on document: VaultDocument, with history: VaultHistory) -> VaultReport? {
        guard vaultID == document.vaultID else { return nil }
        let age = (document.generation, document.changes)
        if (generation, changes) > age {
            return .olderFile(generation: document.generation, newest: generation)
        }
        if let save, save.isMissing(in: history) {
            return .otherFile(generation: document.generation)
        }
        guard (generation, changes) == age, digest != document.digest else { return nil }
        return .otherFile(generation: generation)
    }

    /// Whether a file that contains this state has everything that was saved here.
    func isIncluded(in state: VaultState) -> Bool {
        guard (state.generation, state.changes) >= (generation, changes) else { return false }
        return save?.isMissing(in: state.history) != true
    }

    /// The warning if the key of this vault is not the newest one; otherwise `nil`.
    ///
    /// A full history may have dropped the rekey, so only the key itself, or a later rekey, shows
    /// this.
    func reportOnKey(of state: VaultState, with key: VaultKey) throws(VaultError) -> VaultReport? {
        guard vaultID == state.vaultID, let rekey else { return nil }
        guard !rekey.isMissing(in: state.history) else { return .formerKey }
        guard state.history.mayHaveDropped(savesUpTo: rekey.generation),
            try state.rekey(to: key) == nil,
            case let own = VaultHistory.Save(
                generation: rekey.generation, id: try key.rekeySave()),
            KnownSave(own) != rekey
        else { return nil }
        return .formerKey
    }

    /// Whether this file follows the last save here, and got its key after that save.
    ///
    /// If so, a previous generation with a different key is older than this key, and was not kept
    /// on purpose.
    func isFollowed(by state: VaultState, with key: VaultKey) throws(VaultError) -> Bool {
        guard vaultID == state.vaultID else { return true }
        guard try reportOnKey(of: state, with: key) == nil else { return false }
        guard let save else { return true }
        guard !save.isMissing(in: state.history) else { return false }
        guard let rekey = try state.rekey(to: key) else { return true }
        return save.generation < rekey.generation
    }

    /// Whether the recorded generation of this vault is greater than `other`.
    func isNewer(than other: UInt64, of vaultID: [UInt8]) -> Bool {
        self.vaultID == vaultID && generation > other
    }

    /// Reads the generation record of the vault file at `location`; `nil` if there is none, or if
    /// it cannot be read.
    static func read(of location: VaultLocation) throws(VaultError) -> GenerationRecord? {
        guard let own = try location.openStateFolder() else { return nil }
        return read(in: own)
    }

    /// Reads the record of this vault at `location`; if the vault was neither opened nor saved
    /// under this name yet, the newest record under a former name.
    static func read(
        of location: VaultLocation, vaultID: [UInt8]
    ) throws(VaultError) -> GenerationRecord? {
        try read(of: location)?.of(vaultID) ?? location.formerRecord(of: vaultID)
    }

    /// This record if it belongs to the vault `vaultID`; otherwise `nil`.
    func of(_ vaultID: [UInt8]) -> GenerationRecord? { self.vaultID == vaultID ? self : nil }

    /// Reads the generation record; `nil` if there is none, or if it cannot be read.
    ///
    /// - Parameter own: the folder of the files that belong to the vault file.
    static func read(in own: borrowing Folder) -> GenerationRecord? {
        ifPossible(try own.readPrivateFile(VaultLocation.mark, limit: sizeLimit))
            .flatMap(GenerationRecord.init(reading:))
    }
}

extension GenerationRecord {
    /// The record of `document`, which was made without the vault key from the file with the record
    /// `former`.
    init(of document: VaultDocument, after former: GenerationRecord? = nil) {
        let former = former?.of(document.vaultID)
        self.init(
            vaultID: document.vaultID, generation: document.generation, changes: document.changes,
            digest: document.digest, rekey: former?.rekey, save: former?.save)
    }

    /// The record of `document`, the file in which `state` was saved here.
    init(
        of document: VaultDocument, saving state: VaultState, with key: VaultKey,
        after former: GenerationRecord?
    ) throws(VaultError) {
        self.init(of: document, after: former)
        rekey = try GenerationRecord.rekey(after: rekey, in: state, with: key)
        save = KnownSave(state.history.newest)
    }

    /// The record after `document`, which contains `state`, was only opened here; `nil` if it does
    /// not follow the file with the record `former`.
    ///
    /// Tombstones that the manifest does not list may be forged, so a file with such tombstones is
    /// not recorded.
    init?(
        of document: VaultDocument, opening state: VaultState, with key: VaultKey,
        after former: GenerationRecord?
    ) throws(VaultError) {
        guard document.changes == 0, former?.report(on: document, with: state.history) == nil,
            try former?.reportOnKey(of: state, with: key) == nil
        else { return nil }
        self.init(of: document, after: former)
        rekey = try GenerationRecord.rekey(after: rekey, in: state, with: key)
    }

    /// The newest rekey that is known after `state` was saved or opened with `key`: the rekey of
    /// another file that has a newer key, or the rekey of this file.
    private static func rekey(
        after known: KnownSave?, in state: VaultState, with key: VaultKey
    ) throws(VaultError) -> KnownSave? {
        let own = try state.rekey(to: key)
        let isNew = own?.id == state.history.newest.id
        if let known, !isNew, known.isMissing(in: state.history) { return known }
        guard let own else { return known }
        return KnownSave(own)
    }

    /// Whether the record matches `document`.
    func isRecord(of document: VaultDocument) -> Bool {
        GenerationRecord(of: document, after: self) == self
    }

    init?(reading bytes: [UInt8]) {
        guard let record = ifPossible(try GenerationRecord(parsing: bytes)) else { return nil }
        self = record
    }

    private init(parsing bytes: [UInt8]) throws(VaultError) {
        guard bytes.starts(with: GenerationRecord.firstLine.utf8) else { throw .notAVault }
        var line = LineReader(bytes)
        try line.next()
        try line.next()
        let vaultID = try line.base64(in: line.word(), count: VaultDocument.vaultIDCount)
        let (generation, changes) = (try line.count(), try line.count())
        let digest = try line.base64(in: line.lastWord(), count: VaultEnvelope.digestCount)
        let rekey = try GenerationRecord.known("rekey", after: &line)
        let save = try GenerationRecord.known("save", after: &line)
        guard line.end == bytes.count - 1, generation <= VaultLimits.generation else {
            throw .notAVault
        }
        self.init(
            vaultID: vaultID, generation: generation, changes: changes, digest: digest,
            rekey: rekey, save: save)
    }

    /// Reads the save in the next line if the line begins with `word`.
    private static func known(
        _ word: String, after line: inout LineReader
    ) throws(VaultError) -> KnownSave? {
        guard line.end < line.bytes.count - 1 else { return nil }
        var next = line
        try next.next()
        guard next.isLine(word) else { return nil }
        try next.skip(word)
        let known = KnownSave(
            generation: try next.count(),
            digest: try next.base64(in: next.lastWord(), count: KnownSave.digestCount))
        line = next
        return known
    }
}

/// The newest generations of a vault that were seen here.
struct SeenGenerations {
    /// The record under the vault's present name.
    let own: GenerationRecord?
    /// If there is no record under the present name, the newest one under a former name.
    let former: GenerationRecord?

    var newest: GenerationRecord? { own ?? former }
}
