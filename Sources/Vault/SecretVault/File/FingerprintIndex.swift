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
