internal import OneTimePassword
internal import WatchwordCryptography
package import WatchwordSystem

/// The encrypted list of slots and entries: the authentication key of each slot, the properties
/// that `list` shows, the digest that authenticates each record, and the history of the file.
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
        self = try replacingErrors(
            of: plaintext.withBytes { bytes throws(FieldReader.Unreadable) in
                try Manifest(reading: bytes, former: document.formerSave)
            }, with: VaultError.damaged(.manifest))
    }

    /// The first record that is in the manifest but not in the file.
    func gone(from document: VaultDocument) -> RecordID? {
        let there = Set(document.records.map(\.id))
        return entries.first { !there.contains($0.id) }?.id
    }

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
    /// The encoded size of the manifest in bytes.
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
/// This is an index, because an import performs thousands of lookups with changes in between.
struct FingerprintIndex {
    private var holders: [[UInt8]: [RecordID]] = [:]

    /// - Parameter isIncluded: whether the entry can be found.
    init(_ records: [VaultState.Record], where isIncluded: (RecordLine) -> Bool) {
        holders.reserveCapacity(records.count)
        for record in records where isIncluded(record.line) {
            // A wiped entry has no secret to find.
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

/// One record in the manifest.
struct ManifestEntry {
    let id: RecordID
    /// The generation in which the record was last sealed, as in its unencrypted part.
    let revision: UInt64
    var secret: ListedSecret
    var properties: EntryProperties

    /// Equal for two entries with the same secret, if both are bound to the same device or neither
    /// is bound; `nil` if the entry was wiped.
    var fingerprint: [UInt8]? {
        if case .sealed(_, let fingerprint, _) = secret { fingerprint } else { nil }
    }

    /// The device to which the record is bound; also listed if the record was wiped without the
    /// vault key.
    var binding: RecordBinding? {
        if case .sealed(_, _, let binding) = secret { binding } else { nil }
    }
}

/// The state of a record's secret in the manifest.
enum ListedSecret {
    /// The secret is present, with the SHA-256 digest of its box (in Base64, as in the file), its
    /// fingerprint, and the device that it is bound to, if any.
    case sealed(digest: [UInt8], fingerprint: [UInt8], binding: RecordBinding? = nil)
    /// The secret was wiped, and must never reappear.
    case wiped(Tombstone)

    static let digestCount = 32
    static let fingerprintCount = 16
}

/// The kind of an entry and the parameters of its codes, without the key.
enum EntryTraits: Hashable {
    case totp(HashAlgorithm, CodeStyle, TimeStep)
    case hotp(HashAlgorithm, CodeStyle)
    case secret
    case enrolled
    case uncomputed(UncomputedCode.Kind)

    var kind: EntryKind {
        switch self {
        case .totp: .totp
        case .hotp: .hotp
        case .secret: .secret
        case .enrolled: .enrolled
        case .uncomputed(.motp): .motp
        case .uncomputed(.yandex): .yandex
        }
    }

    /// Whether a file of format 1 can contain the kind.
    var isInFirstFormat: Bool {
        if case .uncomputed = self { false } else { true }
    }
}

extension ManifestEntry {
    /// The maximum encoded size in bytes.
    var room: Int {
        let bound = binding == nil ? 0 : RecordBinding.room
        return RecordID.count + 8 + 1 + ListedSecret.digestCount + ListedSecret.fingerprintCount
            + bound + properties.room
    }

    func write(to output: inout OutputSpan<UInt8>) {
        output.append(copying: id.bytes.span)
        output.append(revision, bytes: 8)
        secret.write(to: &output)
        properties.write(to: &output)
    }

    /// Reads an encoded entry.
    ///
    /// - Parameter formerSave: the save of a file of format 1; otherwise `nil`.
    init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>, formerSave: SaveID?
    ) throws(FieldReader.Unreadable) {
        id = RecordID(bytes.extracting(try fields.take(RecordID.count, of: bytes)))
        revision = try fields.number(bytes, width: 8)
        secret = try ListedSecret(reading: &fields, in: bytes)
        properties = try EntryProperties(
            reading: &fields, in: bytes, formerSave: formerSave)
    }
}

extension ListedSecret {
    func write(to output: inout OutputSpan<UInt8>) {
        switch self {
        case .sealed(let digest, let fingerprint, let binding):
            output.append(binding == nil ? 1 : 3)
            output.append(copying: digest.span)
            output.append(copying: fingerprint.span)
            binding?.write(to: &output)
        case .wiped(let tombstone):
            output.append(2)
            tombstone.write(to: &output)
        }
    }

    init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        switch try fields.number(bytes, width: 1) {
        case let state where state == 1 || state == 3:
            let digest = try fields.take(ListedSecret.digestCount, of: bytes)
            let fingerprint = try fields.take(ListedSecret.fingerprintCount, of: bytes)
            self = .sealed(
                digest: [UInt8](copying: bytes.extracting(digest)),
                fingerprint: [UInt8](copying: bytes.extracting(fingerprint)),
                binding: state == 3 ? try RecordBinding(reading: &fields, in: bytes) : nil)
        case 2:
            self = .wiped(try Tombstone(reading: &fields, in: bytes))
        default: throw FieldReader.Unreadable()
        }
    }
}

extension Tombstone {
    // The index plus 1 is the number in the file format.
    private static let reasons: [Tombstone.Reason] = [
        .failures, .revoked, .reuseDetected, .tooManyFailures, .accountClosed,
    ]
    /// The encoded size in bytes.
    static let room = 8 + 1

    func write(to output: inout OutputSpan<UInt8>) {
        output.append(UInt64(bitPattern: time), bytes: 8)
        let place = Tombstone.reasons.firstIndex(of: reason)
        guard let place else { preconditionFailure("every reason has a number") }
        output.append(UInt8(place + 1))
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        time = try fields.signedNumber(bytes)
        let number = Int(try fields.byte(bytes))
        guard (1...Tombstone.reasons.count).contains(number) else {
            throw FieldReader.Unreadable()
        }
        reason = Tombstone.reasons[number - 1]
    }
}

extension EntryTraits {
    /// The maximum encoded size in bytes.
    static let room = 19
    private static let algorithms: [HashAlgorithm] = [.sha1, .sha256, .sha512]

    /// The number of the kind in the file format.
    private var number: UInt8 {
        switch self {
        case .totp: 1
        case .hotp: 2
        case .secret: 3
        case .enrolled: 4
        case .uncomputed(.motp): 5
        case .uncomputed(.yandex): 6
        }
    }

    func write(to output: inout OutputSpan<UInt8>) {
        output.append(number)
        switch self {
        case .totp(let algorithm, let style, let step):
            EntryTraits.write(algorithm, style, to: &output)
            output.append(UInt64(bitPattern: step.period), bytes: 8)
            output.append(UInt64(bitPattern: step.start), bytes: 8)
        case .hotp(let algorithm, let style):
            EntryTraits.write(algorithm, style, to: &output)
        case .secret, .enrolled, .uncomputed: break
        }
    }

    private static func write(
        _ algorithm: HashAlgorithm, _ style: CodeStyle, to output: inout OutputSpan<UInt8>
    ) {
        switch algorithm {
        case .sha1: output.append(1)
        case .sha256: output.append(2)
        case .sha512: output.append(3)
        }
        switch style {
        case .steam: output.append(0)
        case .decimal(let length): output.append(UInt8(length.digits))
        }
    }

    init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        switch try fields.number(bytes, width: 1) {
        case 1:
            let (algorithm, style) = try EntryTraits.read(&fields, bytes)
            let period = Int64(bitPattern: try fields.number(bytes, width: 8))
            let start = Int64(bitPattern: try fields.number(bytes, width: 8))
            guard let step = TimeStep(period: period, start: start) else {
                throw FieldReader.Unreadable()
            }
            self = .totp(algorithm, style, step)
        case 2:
            let (algorithm, style) = try EntryTraits.read(&fields, bytes)
            self = .hotp(algorithm, style)
        case 3: self = .secret
        case 4: self = .enrolled
        case 5: self = .uncomputed(.motp)
        case 6: self = .uncomputed(.yandex)
        default: throw FieldReader.Unreadable()
        }
    }

    private static func read(
        _ fields: inout FieldReader, _ bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) -> (HashAlgorithm, CodeStyle) {
        let algorithm = try fields.number(bytes, width: 1)
        guard (1...3).contains(algorithm) else { throw FieldReader.Unreadable() }
        let digits = try fields.number(bytes, width: 1)
        guard digits > 0 else { return (algorithms[Int(algorithm) - 1], .steam) }
        guard let length = CodeLength(digits: Int(digits)) else {
            throw FieldReader.Unreadable()
        }
        return (algorithms[Int(algorithm) - 1], .decimal(length))
    }
}
