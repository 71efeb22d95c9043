internal import WatchwordCryptography
internal import WatchwordSystem

/// The first and last lines of a vault file: they contain its type and version, and show that it is
/// complete.
enum VaultEnvelope {
    /// The newest format version that this program reads.
    static let newestVersion = 4
    /// The beginning of a vault file of any version.
    static let magic = Array("watchword-vault ".utf8)

    /// The version in which a file with these records is written; version 1 is only read.
    ///
    /// Programs that do not know a later version keep reading vaults that do not need it.
    static func version(for records: some Sequence<VaultState.Record>) -> Int {
        records.contains { $0.device != nil } ? 4 : version(of: records.lazy.map(\.line))
    }

    /// The version of these lines in a file without bound records, which only the manifest shows.
    static func version(of lines: some Sequence<RecordLine>) -> Int {
        lines.contains { $0.accessControl.reuse != .none } ? 3 : 2
    }

    static func firstLine(_ version: Int) -> [UInt8] { magic + Array("\(version)\n".utf8) }

    // The version has one digit.
    private static let anyFirstLine = FileBeginning(magic).followedByAny(1)

    /// The beginning of all files of the vault with this ID, in any version, and of no other file.
    static func beginning(of vaultID: [UInt8]) -> FileBeginning {
        anyFirstLine.followed(by: [LineReader.lineFeed] + VaultLines.vault(vaultID))
    }

    /// The beginning of the first generation of any vault, which has no entries.
    static let firstGenerationBeginning = anyFirstLine.followed(by: Array("\nvault ".utf8))
        .followedByAny(Base64.encodedCount(of: VaultDocument.vaultIDCount))
        .followed(by: Array("\ngeneration 1\n".utf8))

    private static let lastWord = Array("end ".utf8)
    static let digestCount = 32
    static let lastLineCount = lastWord.count + Base64.encodedCount(of: digestCount) + 1

    // The first words of all lines except the last.
    private static let otherLines = [
        "watchword-vault ", "vault ", "generation ", "slot ", "record ", "mac ", "sealed ",
        "tombstone ", "manifest ", "changes ",
    ].map { Array($0.utf8) }

    /// Verifies that `bytes` are a complete vault file, as far as possible without a key.
    ///
    /// - Returns: the version of its format.
    static func verify(_ bytes: [UInt8]) throws(VaultError) -> Int {
        try requireAlgorithms()
        do throws(VaultError) {
            return try verifiedVersion(bytes)
        } catch {
            throw hasConflictMarkers(bytes) ? .conflictMarkers : error
        }
    }

    private static let conflictStart = Array("<<<<<<< ".utf8)
    private static let conflictEnd = Array(">>>>>>> ".utf8)

    /// Whether git has written conflict markers into a vault file.
    ///
    /// If the formats differ, the first line is part of a conflict, too.
    private static func hasConflictMarkers(_ bytes: [UInt8]) -> Bool {
        let lines = bytes.split(separator: LineReader.lineFeed)
        guard lines.prefix(2).contains(where: { $0.starts(with: magic) }),
            let start = lines.firstIndex(where: { $0.starts(with: conflictStart) })
        else { return false }
        return lines[start...].contains { $0.starts(with: conflictEnd) }
    }

    private static func verifiedVersion(_ bytes: [UInt8]) throws(VaultError) -> Int {
        let version = try version(of: bytes)
        guard hasLastLine(bytes) else {
            throw isTruncated(bytes) ? .truncated : .damaged(.checksum)
        }
        guard
            lastLine(for: bytes.dropLast(lastLineCount)).elementsEqual(
                bytes.suffix(lastLineCount))
        else { throw .damaged(.checksum) }
        return version
    }

    /// The last line of a file whose other lines are `body`.
    static func lastLine(for body: ArraySlice<UInt8>) -> [UInt8] {
        var text = VaultText()
        text.write(lastWord)
        text.writeBase64(sha256(body.span))
        text.endLine()
        return text.bytes
    }

    private static func version(of bytes: [UInt8]) throws(VaultError) -> Int {
        let start = bytes.prefix(firstLine(newestVersion).count)
        for version in 1...newestVersion {
            let line = firstLine(version)
            if start.elementsEqual(line) { return version }
            guard !line.starts(with: start) else { throw .truncated }
        }
        guard start.starts(with: magic) else { throw .notAVault }
        let rest = bytes.dropFirst(magic.count)
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        // Nine digits are enough for versions, and cannot overflow.
        guard digits.count <= 9, digits.first != UInt8(ascii: "0"),
            let version = Int(String(decoding: digits, as: UTF8.self)), version > newestVersion,
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

    // A truncated file ends within a line, or after a line that is not the last one. A last line of
    // full length with wrong bytes is damage instead.
    private static func isTruncated(_ bytes: [UInt8]) -> Bool {
        let isEnded = bytes.last == LineReader.lineFeed
        let text = isEnded ? bytes.dropLast() : bytes[...]
        let lineStart = text.lastIndex(of: LineReader.lineFeed).map { $0 + 1 } ?? 0
        let line = text[lineStart...]
        if isEnded {
            // A file whose end looks like a last line is not truncated, even if the line feed
            // before it is missing.
            return otherLines.contains { line.starts(with: $0) }
                && !line.suffix(lastLineCount - 1).starts(with: lastWord)
        }
        return !(line.starts(with: lastWord) && line.count >= lastLineCount)
    }
}
