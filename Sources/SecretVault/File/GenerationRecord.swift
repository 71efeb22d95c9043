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

    static let firstLine = "watchword-generation 1\n"
    private static let sizeLimit = 1024

    var text: [UInt8] {
        var text = VaultText()
        text.write(beginning)
        text.write("\(generation) \(changes) ")
        text.writeBase64(digest)
        text.endLine()
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
            guard line.end == bytes.count - 1, generation <= VaultLimits.generation else {
                return nil
            }
        } catch {
            return nil
        }
    }
}
