internal import WatchwordCryptography
internal import WatchwordSystem

/// The content of the `uses` file: when each entry was last used.
///
/// It is sealed under a key of its own, and contains no names.
struct LastUses: Hashable {
    /// Unix seconds.
    private(set) var times: [RecordID: Int64] = [:]

    static let firstLine = Array("watchword-uses 1\n".utf8)
    /// The largest file for a vault with so many entries; some of its uses may be of former ones.
    ///
    /// A request is charged for the vault's file only.
    static func limit(entries: Int) -> Int { 128 + (entries + 500) * room * 4 / 3 }
    /// Enough for every entry of the largest vault.
    static let sizeLimit = limit(entries: VaultLimits.entries)
    private static let room = RecordID.count + 8

    init() {}

    /// Opens the bytes of a file.
    ///
    /// - Throws: ``VaultError/damaged(_:)``, also for a file of an earlier vault key.
    init(opening bytes: [UInt8], with key: VaultKey) throws(VaultError) {
        guard bytes.starts(with: LastUses.firstLine), bytes.last == LineReader.lineFeed else {
            throw .damaged(.checksum)
        }
        let text = Array(bytes[LastUses.firstLine.count...].dropLast())
        let box: [UInt8]
        do { box = try Base64.decode(text.span) } catch { throw .damaged(.checksum) }
        let plaintext = try SealedBox.open(
            box, under: key.derived(for: .uses), associatedData: VaultLines.vault(key.vaultID),
            or: .damaged(.checksum))
        do {
            times = try plaintext.withBytes { bytes throws(FieldReader.Unreadable) in
                try LastUses.times(in: bytes)
            }
        } catch {
            throw .damaged(.checksum)
        }
    }

    private static func times(in bytes: Span<UInt8>) throws(FieldReader.Unreadable)
        -> [RecordID: Int64]
    {
        var fields = FieldReader(.bigEndian)
        var times: [RecordID: Int64] = [:]
        for _ in 0..<bytes.count / room {
            let id = RecordID(bytes.extracting(try fields.take(RecordID.count, of: bytes)))
            times[id] = Int64(bitPattern: try fields.number(bytes, width: 8))
        }
        try fields.finish(bytes)
        return times
    }

    /// The bytes of the file.
    func sealed(under key: VaultKey) throws(VaultError) -> [UInt8] {
        let plaintext = SecretBytes(capacity: times.count * LastUses.room) { output in
            for (id, time) in times {
                output.append(copying: id.bytes.span)
                output.append(UInt64(bitPattern: time), bytes: 8)
            }
        }
        var text = VaultText()
        text.write(LastUses.firstLine)
        text.writeBase64(
            try SealedBox.seal(
                plaintext, under: key.derived(for: .uses),
                associatedData: VaultLines.vault(key.vaultID)))
        text.endLine()
        return text.bytes
    }

    /// Records uses, and forgets entries that `exists` does not know.
    ///
    /// Each use is later than all earlier ones, even in the same second or if the clock was set back.
    mutating func add(_ uses: [RecordedUse], keeping exists: (RecordID) -> Bool) {
        times = times.filter { exists($0.key) }
        var newest = times.values.max() ?? .min
        for use in uses {
            newest = max(use.time, newest == .max ? newest : newest + 1)
            times[use.id] = newest
        }
    }
}
