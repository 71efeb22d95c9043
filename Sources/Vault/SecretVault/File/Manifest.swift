internal import WatchwordCryptography
internal import WatchwordSystem

/// The encrypted list of slots and entries: the authentication key of each slot, what `list` shows,
/// what authenticates each record, and the history of the file.
struct Manifest {
    /// One slot in the manifest.
    struct ListedSlot {
        let number: Int
        let authenticationKey: SecretBytes
    }

    let slots: [ListedSlot]
    let entries: [ManifestEntry]
    let history: VaultHistory

    /// Seals the manifest; `macLine` binds it to one header.
    func sealed(under key: VaultKey, macLine: [UInt8]) throws(VaultError) -> [UInt8] {
        // Names are private, so the plaintext is built in secret memory.
        let room =
            8 + slots.count * ListedSlot.count + entries.reduce(0) { $0 + $1.room }
            + history.room
        let plaintext = SecretBytes(capacity: room) { output in
            output.append(UInt64(slots.count), bytes: 4)
            for slot in slots { slot.write(to: &output) }
            output.append(UInt64(entries.count), bytes: 4)
            for entry in entries { entry.write(to: &output) }
            history.write(to: &output)
        }
        return try SealedBox.seal(
            plaintext, under: key.derived(for: .manifest), associatedData: macLine)
    }

    /// Opens a file's manifest.
    ///
    /// The records in the manifest may differ from those in the file.
    init(opening document: VaultDocument, with key: VaultKey) throws(VaultError) {
        let plaintext = try SealedBox.open(
            document.manifest, under: key.derived(for: .manifest),
            associatedData: document.macLine, or: .damaged(.manifest))
        self = try VaultError.parsing(
            plaintext.withBytes { bytes throws(FieldReader.Unreadable) in
                try Manifest(reading: bytes, former: document.formerSave)
            }, or: .damaged(.manifest))
    }

    /// The first record that is in the manifest but not in the file.
    func gone(from document: VaultDocument) -> RecordID? {
        let there = Set(document.records.map(\.id))
        return entries.first { !there.contains($0.id) }?.id
    }

    /// The manifest of `state`.
    init(of state: VaultState) {
        slots = state.slots.map {
            ListedSlot(number: $0.slot.number, authenticationKey: $0.authenticationKey)
        }
        entries = state.records.map(\.listed)
        history = state.history
    }

    /// Reads a manifest.
    ///
    /// - Parameter former: the save of a file of format 1, whose manifest has no history;
    ///   otherwise `nil`.
    init(
        reading bytes: Span<UInt8>, former: VaultHistory.Save?
    ) throws(FieldReader.Unreadable) {
        var fields = FieldReader(.bigEndian)
        let slotCount = try fields.number(bytes, width: 4)
        guard slotCount <= UInt64(VaultLimits.slots) else { throw FieldReader.Unreadable() }
        var slots: [ListedSlot] = []
        for _ in 0..<slotCount { slots.append(try ListedSlot(reading: &fields, in: bytes)) }
        let count = try fields.number(bytes, width: 4)
        guard count <= UInt64(VaultLimits.entries) else { throw FieldReader.Unreadable() }
        var entries: [ManifestEntry] = []
        entries.reserveCapacity(Int(count))
        for _ in 0..<count {
            entries.append(
                try ManifestEntry(reading: &fields, in: bytes, formerSave: former?.id))
        }
        if let former {
            history = VaultHistory(former)
        } else {
            history = try VaultHistory(reading: &fields, in: bytes)
        }
        try fields.finish(bytes)
        self.slots = slots
        self.entries = entries
    }
}

extension Manifest.ListedSlot {
    /// Its encoded size in bytes.
    static let count = 4 + SlotSecret.authenticationCount

    func write(to output: inout OutputSpan<UInt8>) {
        output.append(UInt64(number), bytes: 4)
        authenticationKey.withBytes { output.append(copying: $0) }
    }

    init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        number = Int(try fields.number(bytes, width: 4))
        authenticationKey = SecretBytes(
            copying: bytes.extracting(
                try fields.take(SlotSecret.authenticationCount, of: bytes)))
    }
}

/// The entries that contain each secret, by fingerprint, in list order.
///
/// An index, because an import makes thousands of lookups with changes between them.
struct FingerprintIndex {
    private var holders: [[UInt8]: [RecordID]] = [:]

    /// - Parameter isIncluded: whether the entry can be found.
    init(_ records: [VaultState.Record], where isIncluded: (RecordLine) -> Bool) {
        holders.reserveCapacity(records.count)
        for record in records where isIncluded(record.line) {
            // A wiped entry contains no secret; only its name is left.
            guard case .sealed = record.body else { continue }
            add(record.line.id, holding: record.listed.fingerprint)
        }
    }

    /// The entries whose secret has this fingerprint.
    func ids(of fingerprint: [UInt8]) -> [RecordID] { holders[fingerprint] ?? [] }

    mutating func add(_ id: RecordID, holding fingerprint: [UInt8]?) {
        guard let fingerprint else { return }
        holders[fingerprint, default: []].append(id)
    }

    /// Inserts an entry after those that precede it in the list.
    mutating func insert(
        _ id: RecordID, holding fingerprint: [UInt8]?, behind isBefore: (RecordID) -> Bool
    ) {
        guard let fingerprint else { return }
        let place = holders[fingerprint]?.firstIndex { !isBefore($0) }
        let end = holders[fingerprint]?.endIndex ?? 0
        holders[fingerprint, default: []].insert(id, at: place ?? end)
    }

    mutating func remove(_ id: RecordID, holding fingerprint: [UInt8]?) {
        guard let fingerprint else { return }
        holders[fingerprint]?.removeAll { $0 == id }
    }
}
