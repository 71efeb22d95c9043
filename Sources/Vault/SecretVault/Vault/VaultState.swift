internal import WatchwordCryptography
internal import WatchwordSystem

/// A vault that the vault key has authenticated: its slots, and its records, each still sealed.
struct VaultState {
    let vaultID: [UInt8]
    let generation: UInt64
    /// The size of the file in bytes; until this state is saved, the size of the former file.
    let fileSize: Int
    /// The number of records that were wiped without the vault key and are not listed as wiped.
    private(set) var changes: UInt64
    /// The saves of the file; the newest is the save of this state.
    private(set) var history: VaultHistory
    var slots: [TrustedSlot]
    private(set) var records: [Record]
    /// The index of each record, for imports and exports of thousands of entries.
    private var places: [RecordID: Int]

    /// A new vault, before its first save.
    init(new vaultID: [UInt8], slots: [TrustedSlot]) {
        self.vaultID = vaultID
        generation = 1
        fileSize = 0
        changes = 0
        history = VaultHistory(VaultHistory.Save(generation: 1, id: .make()))
        self.slots = slots
        records = []
        places = [:]
    }

    /// Verifies everything that can be verified without opening a record.
    ///
    /// The header is authentic, the manifest belongs to it, each record's box is the one in the
    /// manifest, and wiped secrets are gone.
    init(verifying document: VaultDocument, with key: VaultKey) throws(VaultError) {
        guard document.vaultID == key.vaultID else { throw .replaced }
        let header = document.bytes.span.extracting(0..<document.headerEnd)
        let expected = try key.mac(of: header)
        guard isEqualInConstantTime(expected.span, document.mac.span) else {
            throw try VaultState.findFault(with: document, key)
        }
        let manifest = try Manifest(opening: document, with: key)
        guard manifest.entries.count == document.records.count,
            manifest.slots.map(\.number) == document.slots.map(\.number),
            manifest.history.newest.generation == document.generation
        else { throw .damaged(.manifest) }
        vaultID = document.vaultID
        generation = document.generation
        fileSize = document.bytes.count
        changes = 0
        history = manifest.history
        slots = zip(document.slots, manifest.slots).map {
            TrustedSlot(slot: $0, authenticationKey: $1.authenticationKey)
        }
        records = []
        records.reserveCapacity(document.records.count)
        places = Dictionary(minimumCapacity: document.records.count)
        for (index, line) in document.records.enumerated() {
            let record = Record(
                line: line, listed: manifest.entries[index], body: document.bodies[index])
            try record.verify()
            append(record)
        }
        // A wiped record whose secret was restored would be missing from this count.
        guard changes == document.changes else { throw .damaged(.changes) }
        guard (document.version == 4) == records.contains(where: { $0.device != nil }) else {
            throw .damaged(.line(1))
        }
    }

    /// Whether any record was wiped without the vault key since the last save with that key.
    var hasUnlistedTombstones: Bool { changes > 0 }

    /// Whether records other than `wiped` were wiped without the vault key.
    func hasVanished(besides wiped: Set<RecordID>) -> Bool {
        hasUnlistedTombstones
            && records.contains { $0.isWipedWithoutKey && !wiped.contains($0.line.id) }
    }

    /// The records that still have their secret.
    var sealedLines: [RecordLine] { records.filter(\.isSealed).map(\.line) }

    /// The records whose failures count: records with a secret, and records whose wipe is not
    /// listed.
    var countedLines: [RecordLine] {
        records.filter { $0.isSealed || $0.isWipedWithoutKey }.map(\.line)
    }

    /// Whether this state follows `older`; assumed to be true if that has a different key or cannot
    /// be read.
    func isLater(than older: VaultDocument?, with key: VaultKey) -> Bool {
        guard let older, let state = ifPossible(try VaultState(verifying: older, with: key)) else {
            return true
        }
        return history.includes(state.history)
    }

    /// Verifies another file of this vault; `nil` if its key is different.
    func verified(_ document: VaultDocument, with key: VaultKey) throws(VaultError) -> VaultState? {
        do throws(VaultError) {
            return try VaultState(verifying: document, with: key)
        } catch .damaged(.header) where isRekeyed(in: document) {
            return nil
        }
    }

    // The manifest belongs to the original header. If the manifest still opens, it shows which
    // record was removed.
    private static func findFault(with document: VaultDocument, _ key: VaultKey)
        throws(VaultError) -> VaultError
    {
        do {
            let gone = try Manifest(opening: document, with: key).gone(from: document)
            return .damaged(gone.map { .recordRemoved($0) } ?? .header)
        } catch .damaged {
            return .damaged(.header)
        }
    }

    /// The index of a record in `records`; throws ``VaultError/noSuchEntry``.
    func index(of id: RecordID) throws(VaultError) -> Int {
        guard let index = places[id] else { throw .noSuchEntry }
        return index
    }

    /// The record with this ID; `nil` if there is none.
    func record(_ id: RecordID) -> Record? { places[id].map { records[$0] } }

    /// Keeps only the records with these IDs, in this order.
    mutating func arrange(_ ids: [RecordID]) throws(VaultError) {
        records = try ids.map { id throws(VaultError) in records[try index(of: id)] }
        places = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
        changes = records.reduce(0) { $0 + $1.changes }
    }

    /// Makes the save of this state undo the one before it, which replaced `previous`.
    ///
    /// - Parameter isMerge: whether the undone save is a merge.
    mutating func undoSave(to previous: VaultHistory, isMerge: Bool) {
        history = history.undoing(to: previous, marking: isMerge)
    }

    /// Makes the save of this state an ordinary save after the history `former`, not a merge.
    mutating func leaveOutMerge(into former: VaultHistory) {
        history = former.followed(by: history.newest)
    }

    /// Whether `first` precedes `second` in the list.
    func lists(_ first: RecordID, before second: RecordID) -> Bool {
        guard let place = places[first], let other = places[second] else { return false }
        return place < other
    }

    /// Adds a record with a new ID at the end.
    mutating func append(_ record: Record) {
        places[record.line.id] = records.count
        records.append(record)
        changes += record.changes
    }

    /// Replaces the record with the same ID.
    mutating func replace(_ record: Record) throws(VaultError) {
        let index = try index(of: record.line.id)
        changes = changes - records[index].changes + record.changes
        records[index] = record
    }

    /// Replaces the record with the same ID, or adds it at the end.
    mutating func put(_ record: Record) throws(VaultError) {
        if places[record.line.id] == nil { append(record) } else { try replace(record) }
    }

    /// Changes what the manifest contains about an entry, without opening its secret.
    mutating func change(
        _ id: RecordID, _ body: (inout EntryProperties) -> Void
    ) throws(VaultError) {
        body(&records[try index(of: id)].listed.properties)
    }

    mutating func remove(_ id: RecordID) throws(VaultError) {
        changes -= records.remove(at: try index(of: id)).changes
        places = Dictionary(uniqueKeysWithValues: records.enumerated().map { ($1.line.id, $0) })
    }
}

extension VaultState {
    /// A copy under another vault key.
    func rekeyed(from old: VaultKey, to new: VaultKey) throws(VaultError) -> VaultState {
        var rekeyed = self
        let former = history.newest.id
        let save = try new.rekeySave()
        rekeyed.history = history.renamingNewest(save)
        for (index, record) in records.enumerated() {
            let edit = record.listed.properties.edited
            guard edit.save == former else { continue }
            rekeyed.records[index].listed.properties.edited = EntryEdit(time: edit.time, save: save)
        }
        rekeyed.slots = []
        for slot in slots { rekeyed.slots.append(try slot.holding(new)) }
        for (index, record) in rekeyed.records.enumerated() {
            guard case .sealed = record.body else { continue }
            rekeyed.records[index] = try .sealing(
                record.carried(with: old), as: record.line, record.listed.properties, to: nil,
                under: new)
        }
        return rekeyed
    }

    /// Whether the vault key was resealed in all slots of `document`, as after a rekey.
    func isRekeyed(in document: VaultDocument) -> Bool {
        let known = Set(slots.map(\.slot.vaultKey))
        return document.slots.allSatisfy { !known.contains($0.vaultKey) }
    }
}

extension VaultState {
    /// The new vault file and the state in it, verified as the next unlock will verify them.
    func verifiedFile(
        with key: VaultKey
    ) throws(VaultError) -> (document: VaultDocument, state: VaultState) {
        let document = try VaultDocument(parsing: written(with: key))
        return (document, try VaultState(verifying: document, with: key))
    }

    /// The bytes of the vault file for this state.
    func written(with key: VaultKey) throws(VaultError) -> [UInt8] {
        var text = VaultText()
        text.write(VaultEnvelope.firstLine(VaultEnvelope.version(for: records)))
        text.write(VaultLines.vault(vaultID))
        text.write("generation \(generation)\n")
        for slot in slots { slot.slot.write(to: &text) }
        for record in records { record.line.write(to: &text) }
        let macLine = VaultLines.mac(try key.mac(of: text.bytes.span))
        text.write(macLine)
        for record in records { record.body.write(of: record.line.id, to: &text) }
        text.write("manifest ")
        text.writeBase64(try Manifest(of: self).sealed(under: key, macLine: macLine))
        text.write("\nchanges \(changes)\n")
        text.write(VaultEnvelope.lastLine(for: text.bytes[...]))
        guard text.bytes.count <= VaultLimits.fileSize else { throw .overLimit(.fileSize) }
        return text.bytes
    }
}

extension VaultState {
    /// The start of the next generation: a copy with the next number, and the tombstones of `wiped`
    /// in the manifest.
    ///
    /// If an older file was restored, the next generation is newer than any that was seen here. The
    /// generation record is not authenticated, so an implausibly high generation in it is ignored:
    /// otherwise, it could use up all generation numbers.
    ///
    /// - Parameter other: the history of another file that this save merges.
    func next(
        after mark: GenerationRecord?, joining other: VaultHistory? = nil,
        listing wiped: Set<RecordID> = []
    ) throws(VaultError) -> VaultState {
        var newest = max(generation, other?.newest.generation ?? 0)
        if let mark, mark.vaultID == vaultID, mark.generation > newest,
            mark.generation - newest <= VaultLimits.missedGenerations
        {
            newest = mark.generation
        }
        guard newest < VaultLimits.generation else { throw .overLimit(.generations) }
        let save = VaultHistory.Save(generation: newest + 1, id: .make())
        return VaultState(
            self, savedAs: save, listing: wiped,
            history: other.map { history.joined(with: $0, by: save) } ?? history.followed(by: save))
    }

    private init(
        _ state: VaultState, savedAs save: VaultHistory.Save, listing wiped: Set<RecordID>,
        history: VaultHistory
    ) {
        vaultID = state.vaultID
        generation = save.generation
        fileSize = state.fileSize
        changes = 0
        self.history = history
        slots = state.slots
        records = state.records.map { wiped.contains($0.line.id) ? $0.settled : $0 }
        places = state.places
        changes = records.reduce(0) { $0 + $1.changes }
    }
}
