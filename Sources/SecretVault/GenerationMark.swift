internal import POSIX

/// What the file beside the vault says: the newest generation that was seen.
///
/// It is not sealed; it is against mistakes (a backup put back over a newer vault), and against somebody
/// who can change one file and not the other.
struct GenerationMark: Hashable {
    let vaultID: [UInt8]
    let generation: UInt64
    let changes: UInt64

    /// What a mark of any version begins with.
    static let magic = Array("watchword-generation ".utf8)
    private static let firstLine = "watchword-generation 1\n"
    private static let sizeLimit = 1024

    var text: [UInt8] {
        var text = VaultText()
        text.write(GenerationMark.firstLine)
        text.writeBase64(vaultID)
        text.write(" \(generation) \(changes)\n")
        return text.bytes
    }

    /// Whether a file of this vault is older than what was seen.
    func isNewer(than state: VaultState) -> Bool {
        vaultID == state.vaultID
            && (generation, changes) > (state.generation, state.changes)
    }

    /// Reads the mark; there may be none, and one that can't be read says nothing.
    static func read(_ location: VaultLocation, in folder: borrowing Folder) -> GenerationMark? {
        do throws(PrivateFileError) {
            return GenerationMark(
                reading: try folder.readPrivateFile(location.mark, limit: sizeLimit))
        } catch {
            return nil
        }
    }

    init(vaultID: [UInt8], generation: UInt64, changes: UInt64) {
        self.vaultID = vaultID
        self.generation = generation
        self.changes = changes
    }

    init(of state: VaultState) {
        self.init(
            vaultID: state.vaultID, generation: state.generation, changes: state.changes)
    }

    init?(reading bytes: [UInt8]) {
        guard bytes.starts(with: GenerationMark.firstLine.utf8) else { return nil }
        do throws(VaultError) {
            var line = LineReader(bytes)
            try line.next()
            try line.next()
            vaultID = try line.base64(in: line.word(), count: VaultDocument.vaultIDCount)
            generation = try line.count()
            changes = try line.lastCount()
            guard line.end == bytes.count - 1, generation <= VaultLimits.generation else {
                return nil
            }
        } catch {
            return nil
        }
    }
}
