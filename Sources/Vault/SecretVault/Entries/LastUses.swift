internal import WatchwordCryptography
internal import WatchwordSystem

/// The content of the `uses` file: when each entry was last used.
///
/// The file is sealed under a separate key, and contains no names.
struct LastUses: Hashable {
    /// The time of each entry's last use, in Unix seconds.
    private(set) var times: [RecordID: Int64] = [:]

    static let firstLine = Array("watchword-uses 1\n".utf8)
    fileprivate static let file = FileReplacement(
        of: VaultLocation.uses, beginningWith: firstLine)
    /// The size of the largest file for a vault with so many entries; some of the recorded uses may
    /// concern removed entries.
    ///
    /// The memory limit of a request counts only the vault's file.
    static func limit(entries: Int) -> Int { 128 + (entries + 500) * room * 4 / 3 }
    /// Enough for all entries of the largest vault.
    static let sizeLimit = limit(entries: VaultLimits.entries)
    private static let room = RecordID.count + 8

    init() {}

    /// Opens the bytes of a file.
    ///
    /// - Throws: ``VaultError/damaged(_:)``, including for a file sealed under an earlier vault
    ///   key.
    init(opening bytes: [UInt8], with key: VaultKey) throws(VaultError) {
        guard bytes.starts(with: LastUses.firstLine), bytes.last == LineReader.lineFeed else {
            throw .damaged(.checksum)
        }
        let text = Array(bytes[LastUses.firstLine.count...].dropLast())
        let box = try replacingErrors(
            of: Base64.decode(text.span), with: VaultError.damaged(.checksum))
        let plaintext = try SealedBox.open(
            box, under: key.derived(for: .uses), associatedData: VaultLines.vault(key.vaultID),
            or: .damaged(.checksum))
        times = try replacingErrors(
            of: plaintext.withBytes { bytes throws(FieldReader.Unreadable) in
                try LastUses.times(in: bytes)
            }, with: VaultError.damaged(.checksum))
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

    /// Records uses, and removes entries for which `exists` returns `false`.
    ///
    /// Each use is later than all earlier ones, even in the same second or if the clock was set
    /// back.
    mutating func add(_ uses: [RecordedUse], keeping exists: (RecordID) -> Bool) {
        times = times.filter { exists($0.key) }
        var newest = times.values.max() ?? .min
        for use in uses {
            newest = max(use.time, newest == .max ? newest : newest + 1)
            times[use.id] = newest
        }
    }
}

/// A use of the entry `id` at `time`, in Unix seconds.
package struct RecordedUse: Sendable {
    package let id: RecordID
    package let time: Int64

    package init(of id: RecordID, at time: Int64) {
        self.id = id
        self.time = time
    }
}

// The record is used only to sort lists. A failure to read or write the record must not prevent
// anything else: a record that cannot be read counts as empty, and errors are ignored.
extension UnlockedVault {
    /// When each entry was last used on this machine, in Unix seconds, as far as that is known.
    public var lastUses: [RecordID: Int64] {
        guard let found = ifPossible(try location.openAttemptsFolder(of: key.vaultID)),
            let folder = found
        else { return [:] }
        return readUses(in: folder).times
    }

    /// Records that an entry was used, unless the vault is read-only.
    ///
    /// Call this after the result has been delivered.
    public func recordUse(of id: RecordID, at now: Int64) { record([RecordedUse(of: id, at: now)]) }

    /// Records several uses, in this order, in one save.
    package func record(_ uses: [RecordedUse]) {
        guard !isReadOnly, !location.isKept, !uses.isEmpty else { return }
        _ = ifPossible(try save(uses))
    }

    /// Throws if the vault has been purged: then nothing may be recorded about it.
    private func expectFile() throws(VaultError) {
        if let folder = try location.openAttemptsFolder(of: state.vaultID) {
            _ = consume folder
            return
        }
        let file = try VaultDocument(parsing: location.read())
        guard file.vaultID == state.vaultID else { throw .notFound }
    }

    /// How long to wait for another process that records a use.
    private static var timeout: Duration { .milliseconds(100) }

    private func save(_ added: [RecordedUse]) throws {
        try expectFile()
        let folder = try location.makeAttemptsFolder(of: state.vaultID)
        let lock = try FileLock(VaultLocation.usesLock, in: folder, timeout: UnlockedVault.timeout)
        var uses = readUses(in: folder)
        uses.add(added) { state.record($0) != nil }
        let bytes = try uses.sealed(under: key)
        try LastUses.file.replace(with: bytes.span, in: folder, previous: .none)
        _ = consume lock
    }

    /// The record in `folder`; empty if the record does not open, for instance after a rekey.
    private func readUses(in folder: borrowing Folder) -> LastUses {
        let limit = LastUses.limit(entries: state.records.count)
        guard let bytes = ifPossible(try folder.readPrivateFile(VaultLocation.uses, limit: limit)),
            let uses = ifPossible(try LastUses(opening: bytes, with: key))
        else { return LastUses() }
        return uses
    }
}

extension VaultLocation {
    /// The bytes of the record of this vault, which has `entries` entries; empty if there is no
    /// record.
    func uses(of vaultID: [UInt8], entries: Int) -> [UInt8] {
        guard let found = ifPossible(try openAttemptsFolder(of: vaultID)), let folder = found
        else { return [] }
        let limit = LastUses.limit(entries: entries)
        return ifPossible(try folder.readPrivateFile(VaultLocation.uses, limit: limit)) ?? []
    }

    /// Writes the encoded record to disk.
    func write(uses: [UInt8], of vaultID: [UInt8]) {
        guard uses.starts(with: LastUses.firstLine),
            let folder = ifPossible(try makeAttemptsFolder(of: vaultID))
        else { return }
        _ = ifPossible(try LastUses.file.replace(with: uses.span, in: folder, previous: .none))
    }
}
