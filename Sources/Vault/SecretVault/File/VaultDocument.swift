internal import WatchwordCryptography
internal import WatchwordSystem

/// A vault file that was parsed without a key: every line is where the format requires it, and the
/// digest in the last line rules out accidental damage.
struct VaultDocument {
    let bytes: [UInt8]
    /// The version of the format.
    let version: Int
    let vaultID: [UInt8]
    let generation: UInt64
    let slots: [Slot]
    let slotsDigest: SlotsDigest
    let records: [RecordLine]
    /// The sealed secret or tombstone of each record, in the same order as `records`.
    let bodies: [RecordBody]
    /// The end of the header, where the `mac` line starts.
    let headerEnd: Int
    /// The MAC of the header.
    let mac: [UInt8]
    /// The box of the manifest.
    let manifest: [UInt8]
    /// The number of records that were wiped without the vault key since the last save with it.
    let changes: UInt64
    /// The digest in the last line.
    let digest: [UInt8]

    static let vaultIDCount = 16
    static let macCount = 32

    /// Parses the bytes of a file.
    init(parsing bytes: [UInt8]) throws(VaultError) {
        version = try VaultEnvelope.verify(bytes)
        self.bytes = bytes
        var line = LineReader(bytes)
        try line.next()  // The first line is already verified.
        try line.next()
        try line.skip("vault")
        vaultID = try line.base64(in: line.lastWord(), count: Self.vaultIDCount)
        try line.next()
        try line.skip("generation")
        generation = try line.lastCount()
        guard (1...VaultLimits.generation).contains(generation) else { throw line.damaged }
        try line.next()
        slots = try Self.readSlots(&line)
        slotsDigest = SlotsDigest(of: slots)
        let (records, ids) = try Self.readRecords(&line, generation: generation)
        self.records = records
        // Each content has exactly one representation. The lines alone cannot distinguish format 4:
        // that depends on the manifest.
        guard version == 4 || max(version, 2) == VaultEnvelope.version(of: records) else {
            throw .damaged(.line(1))
        }
        headerEnd = line.start
        try line.skip("mac")
        mac = try line.base64(in: line.lastWord(), count: Self.macCount)
        bodies = try Self.readBodies(&line, of: ids, records)
        try line.next()
        try line.skip("manifest")
        manifest = try line.base64(in: line.lastWord())
        try line.next()
        try line.skip("changes")
        changes = try line.lastCount()
        try line.next()
        guard line.start == bytes.count - VaultEnvelope.lastLineCount else { throw line.damaged }
        try line.skip("end")
        digest = try line.base64(in: line.lastWord(), count: VaultEnvelope.digestCount)
    }

    /// The save that stands for the history of a file of format 1, whose manifest contains none.
    ///
    /// The nonce of the manifest's box is random and different for each save, and stays the same
    /// when an entry is wiped without the vault key. `nil` for later formats.
    var formerSave: VaultHistory.Save? {
        guard version == 1, manifest.count >= SaveID.count else { return nil }
        return VaultHistory.Save(
            generation: generation, id: SaveID(manifest.span.extracting(first: SaveID.count)))
    }

    // At least one slot, with ascending numbers.
    private static func readSlots(_ line: inout LineReader) throws(VaultError) -> [Slot] {
        var slots: [Slot] = []
        repeat {
            let slot = try Slot(reading: &line)
            guard slots.last.map({ $0.number < slot.number }) ?? true else { throw line.damaged }
            slots.append(slot)
            guard slots.count <= VaultLimits.slots else { throw line.damaged }
            try line.next()
        } while line.isLine("slot")
        return slots
    }

    // IDs are unique, and no record is newer than the vault.
    private static func readRecords(_ line: inout LineReader, generation: UInt64)
        throws(VaultError) -> ([RecordLine], ids: [Range<Int>])
    {
        var records: [RecordLine] = []
        var ids: [Range<Int>] = []
        var known: Set<RecordID> = []
        // Unused capacity costs nothing; growing the arrays would copy them repeatedly.
        let most = line.bytes.count / RecordLine.minimumFileSize
        records.reserveCapacity(most)
        ids.reserveCapacity(most)
        while line.isLine("record") {
            let record = try RecordLine(reading: &line)
            guard known.insert(record.id).inserted, (1...generation).contains(record.revision)
            else { throw line.damaged }
            records.append(record)
            let id = line.start + "record ".utf8.count
            ids.append(id..<id + Base64.encodedCount(of: RecordID.count))
            guard records.count <= VaultLimits.entries else { throw line.damaged }
            try line.next()
        }
        return (records, ids)
    }

    private static func readBodies(
        _ line: inout LineReader, of ids: [Range<Int>], _ records: [RecordLine]
    ) throws(VaultError) -> [RecordBody] {
        var bodies: [RecordBody] = []
        bodies.reserveCapacity(ids.count)
        for (place, id) in ids.enumerated() {
            try line.next()
            guard !isBehind(line, ids[place...]) else {
                throw .damaged(.recordRemoved(records[place].id))
            }
            bodies.append(try RecordBody(reading: &line, of: id))
        }
        return bodies
    }

    // Whether the line belongs to a later record or to the manifest, which means that the line of
    // the first of these records is missing.
    private static func isBehind(_ line: LineReader, _ ids: ArraySlice<Range<Int>>) -> Bool {
        if line.isLine("manifest") { return true }
        guard let word = ifPossible(try bodyID(line)), let first = ids.first,
            !line.areEqual(word, first)
        else { return false }
        return ids.dropFirst().contains { line.areEqual(word, $0) }
    }

    private static func bodyID(_ line: LineReader) throws(VaultError) -> Range<Int> {
        var line = line
        try line.skip(line.isLine("sealed") ? "sealed" : "tombstone")
        return try line.word()
    }
}

extension VaultDocument {
    /// A copy of the file with tombstones in place of these records' secrets; needs no key.
    ///
    /// - Returns: `nil` if none of them still has a secret.
    func wiping(_ ids: Set<RecordID>, leaving tombstone: Tombstone) throws(VaultError)
        -> VaultDocument?
    {
        var wiped: UInt64 = 0
        var text = VaultText()
        text.write(bytes[..<headerEnd])
        text.write(macLine)
        for (line, body) in zip(records, bodies) {
            var left = body
            if case .sealed = body, ids.contains(line.id) {
                left = .tombstone(tombstone)
                wiped += 1
            }
            left.write(of: line.id, to: &text)
        }
        guard wiped > 0 else { return nil }
        guard changes <= VaultLimits.number - wiped else { throw .overLimit(.generations) }
        text.write("manifest ")
        text.writeBase64(manifest)
        text.write("\nchanges \(changes + wiped)\n")
        text.write(VaultEnvelope.lastLine(for: text.bytes[...]))
        return try VaultDocument(parsing: text.bytes)
    }

    /// The records whose failures count: records with a secret, and records whose wipe may not be
    /// listed in the manifest.
    var countedLines: [RecordLine] {
        zip(records, bodies).compactMap { line, body in
            switch body {
            case .sealed: line
            case .tombstone(let tombstone):
                changes > 0 && tombstone.reason == .failures ? line : nil
            }
        }
    }

    /// Whether any of these records still has its secret.
    func hasSecret(ofAny ids: Set<RecordID>) -> Bool {
        zip(records, bodies).contains { line, body in
            if case .sealed = body { ids.contains(line.id) } else { false }
        }
    }
}
