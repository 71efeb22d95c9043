internal import Cryptography
internal import POSIX

/// The content of the `generation` file beside the vault: the newest generation seen, and the
/// digest of that file.
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
    var rekey: Rekey?

    /// A save that gave the vault a new key.
    struct Rekey: Hashable {
        let generation: UInt64
        /// The first bytes of SHA-256 of its ID: whoever reads the ID here could insert it into the
        /// history of a file with a former key.
        let digest: [UInt8]

        static let digestCount = 16

        init(_ save: VaultHistory.Save) throws(VaultError) {
            generation = save.generation
            digest = try Rekey.digest(of: save.id)
        }

        fileprivate init(generation: UInt64, digest: [UInt8]) {
            (self.generation, self.digest) = (generation, digest)
        }

        private static func digest(of id: SaveID) throws(VaultError) -> [UInt8] {
            do { return Array(try sha256(id.bytes.span).prefix(digestCount)) } catch {
                throw .cryptography(error)
            }
        }

        /// Whether a file with this history was saved before, or separately: its key is a former one.
        func isMissing(in history: VaultHistory) throws(VaultError) -> Bool {
            guard !history.mayHaveDropped(savesUpTo: generation) else { return false }
            for save in history.saves where try Rekey.digest(of: save.id) == digest { return false }
            return true
        }
    }

    static let firstLine = "watchword-generation 1\n"
    private static let sizeLimit = 1024

    var text: [UInt8] {
        var text = VaultText()
        text.write(beginning)
        text.write("\(generation) \(changes) ")
        text.writeBase64(digest)
        text.endLine()
        if let rekey {
            text.write("rekey \(rekey.generation) ")
            text.writeBase64(rekey.digest)
            text.endLine()
        }
        return text.bytes
    }

    /// The beginning of every generation record of this vault, and of no other vault's.
    var beginning: [UInt8] {
        var text = VaultText()
        text.write(GenerationRecord.firstLine)
        text.writeBase64(vaultID)
        text.write(" ")
        return text.bytes
    }

    /// What to report about a file of this vault: that it is older than the newest one seen, or
    /// that it has the same generation but different content.
    func report(on document: VaultDocument) -> VaultReport? {
        guard vaultID == document.vaultID else { return nil }
        let age = (document.generation, document.changes)
        if (generation, changes) > age {
            return .olderFile(generation: document.generation, newest: generation)
        }
        guard (generation, changes) == age, digest != document.digest else { return nil }
        return .otherFile(generation: generation)
    }

    /// What to report about the key of this vault: that it is not the newest one.
    func reportOnKey(of state: VaultState) throws(VaultError) -> VaultReport? {
        guard vaultID == state.vaultID, let rekey, try rekey.isMissing(in: state.history) else {
            return nil
        }
        return .formerKey
    }

    /// Whether this generation of the vault is greater than `other`.
    func isNewer(than other: UInt64, of vaultID: [UInt8]) -> Bool {
        self.vaultID == vaultID && generation > other
    }

    /// Reads the generation record of the vault file at `location`; `nil` if there is none, or none
    /// that can be read.
    static func read(of location: VaultLocation) throws(VaultError) -> GenerationRecord? {
        guard let own = try location.openStateFolder() else { return nil }
        return read(in: own)
    }

    /// Reads the generation record; `nil` if there is none, or none that can be read.
    ///
    /// - Parameter own: the folder of the files that belong to the vault file.
    static func read(in own: borrowing Folder) -> GenerationRecord? {
        do throws(PrivateFileError) {
            return GenerationRecord(
                reading: try own.readPrivateFile(VaultLocation.mark, limit: sizeLimit))
        } catch {
            return nil
        }
    }

    init(vaultID: [UInt8], generation: UInt64, changes: UInt64, digest: [UInt8]) {
        self.vaultID = vaultID
        self.generation = generation
        self.changes = changes
        self.digest = digest
    }

    /// The newest rekey that is known after `state` was saved with `key`: that of another file, which
    /// has a newer key, or that of this one.
    static func rekey(
        after known: Rekey?, saving state: VaultState, with key: VaultKey
    ) throws(VaultError) -> Rekey? {
        let own = try state.rekey(to: key)
        let isNew = own?.id == state.history.newest.id
        if let known, !isNew, try known.isMissing(in: state.history) { return known }
        return try own.map(Rekey.init) ?? known
    }

    init(of document: VaultDocument) {
        self.init(
            vaultID: document.vaultID, generation: document.generation, changes: document.changes,
            digest: document.digest)
    }

    init?(reading bytes: [UInt8]) {
        guard bytes.starts(with: GenerationRecord.firstLine.utf8) else { return nil }
        do throws(VaultError) {
            var line = LineReader(bytes)
            try line.next()
            try line.next()
            vaultID = try line.base64(in: line.word(), count: VaultDocument.vaultIDCount)
            generation = try line.count()
            changes = try line.count()
            digest = try line.base64(in: line.lastWord(), count: VaultEnvelope.digestCount)
            if line.end < bytes.count - 1 {
                try line.next()
                try line.skip("rekey")
                rekey = Rekey(
                    generation: try line.count(),
                    digest: try line.base64(in: line.lastWord(), count: Rekey.digestCount))
            }
            guard line.end == bytes.count - 1, generation <= VaultLimits.generation else {
                return nil
            }
        } catch {
            return nil
        }
    }
}
