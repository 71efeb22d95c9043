internal import Cryptography
internal import POSIX

/// The first and the last line of a vault's file: what it is, and that it is all there.
enum VaultEnvelope {
    static let version = 1
    /// What a vault's file of any version begins with.
    static let magic = Array("watchword-vault ".utf8)
    static let firstLine = magic + Array("\(version)\n".utf8)

    /// What a file of the vault of this ID begins with, which no other vault's does.
    static func beginning(of vaultID: [UInt8]) -> FileBeginning {
        FileBeginning(firstLine + VaultLines.vault(vaultID))
    }

    /// What the first file of any vault begins with; such a vault is empty.
    static let beginningOfFirst = FileBeginning(firstLine + Array("vault ".utf8))
        .followedByAny(Base64.encodedCount(of: VaultDocument.vaultIDCount))
        .followed(by: Array("\ngeneration 1\n".utf8))

    private static let lastWord = Array("end ".utf8)
    static let digestCount = 32
    static let lastLineCount = lastWord.count + Base64.encodedCount(of: digestCount) + 1

    // Every word that a line before the last one may start with.
    private static let otherLines = [
        "watchword-vault ", "vault ", "generation ", "slot ", "record ", "mac ", "sealed ",
        "tombstone ", "manifest ", "changes ",
    ].map { Array($0.utf8) }

    /// Verifies that `bytes` are a whole vault of this version, but for what needs a key.
    static func verify(_ bytes: [UInt8]) throws(VaultError) {
        try verifyFirstLine(bytes)
        guard hasLastLine(bytes) else { throw isCut(bytes) ? .truncated : .damaged(.checksum) }
        guard
            try lastLine(for: bytes.dropLast(lastLineCount)).elementsEqual(
                bytes.suffix(lastLineCount))
        else { throw .damaged(.checksum) }
    }

    /// The last line of a file whose other lines are `body`.
    static func lastLine(for body: ArraySlice<UInt8>) throws(VaultError) -> [UInt8] {
        var text = VaultText()
        text.write(lastWord)
        text.writeBase64(try digest(of: body.span))
        text.endLine()
        return text.bytes
    }

    private static func verifyFirstLine(_ bytes: [UInt8]) throws(VaultError) {
        let start = bytes.prefix(firstLine.count)
        guard !start.elementsEqual(firstLine) else { return }
        guard !firstLine.starts(with: start) else { throw .truncated }
        guard start.starts(with: magic) else { throw .notAVault }
        let rest = bytes.dropFirst(magic.count)
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        // Nine digits are enough for versions, and never overflow.
        guard digits.count <= 9, digits.first != UInt8(ascii: "0"),
            let version = Int(String(decoding: digits, as: UTF8.self)), version > Self.version,
            rest.dropFirst(digits.count).first == LineReader.lineFeed
        else { throw .damaged(.line(1)) }
        throw .newerVersion(version)
    }

    private static func hasLastLine(_ bytes: [UInt8]) -> Bool {
        let line = bytes.suffix(lastLineCount)
        return line.count == lastLineCount && line.starts(with: lastWord)
            && line.last == LineReader.lineFeed
            && bytes.dropLast(lastLineCount).last == LineReader.lineFeed
    }

    // A file that was cut ends within a line or after a line that is not the last one. A last line
    // that has its length and is spoiled is none of that.
    private static func isCut(_ bytes: [UInt8]) -> Bool {
        let isEnded = bytes.last == LineReader.lineFeed
        let text = isEnded ? bytes.dropLast() : bytes[...]
        let lineStart = text.lastIndex(of: LineReader.lineFeed).map { $0 + 1 } ?? 0
        let line = text[lineStart...]
        if isEnded {
            // What ends like a last line is not cut, even if it is glued to the line before.
            return otherLines.contains { line.starts(with: $0) }
                && !line.suffix(lastLineCount - 1).starts(with: lastWord)
        }
        return !(line.starts(with: lastWord) && line.count >= lastLineCount)
    }
}
