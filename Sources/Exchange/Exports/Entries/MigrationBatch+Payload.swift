internal import OneTimePassword
internal import WatchwordCryptography

/// The field numbers of the payload.
enum MigrationPayloadField: Int {
    case entry = 1
    case version, size, index, id
}

extension MigrationBatch {
    /// Reads the payload, a Protocol Buffers message.
    init(payload bytes: Span<UInt8>, warnings: [MigrationWarning]) throws(MigrationError) {
        var reader = ProtobufReader(0..<bytes.count)
        var numbers: [MigrationPayloadField: Int32] = [:]
        var entries = MigrationEntries(warnings: warnings)
        while let field = try reader.next(in: bytes) {
            switch (MigrationPayloadField(rawValue: field.number), field) {
            case (.entry, .bytes(_, let range)):
                try entries.take(range, of: bytes)
            case (.entry, _):
                throw .field(field.number)
            case (let name?, .varint(_, let value)):
                // Negative numbers are encoded with 64 bits, of which the lower half is
                // significant.
                guard numbers.updateValue(Int32(truncatingIfNeeded: value), forKey: name) == nil
                else { throw .field(field.number) }
            case (_?, _):
                throw .field(field.number)
            case (nil, _):
                entries.warn(.unknownField(entry: nil, field: field.number))
            }
        }
        let version = Int(numbers[.version] ?? 0)
        guard (0...2).contains(version) else { throw .unknownVersion }
        var size = Int(numbers[.size] ?? 0)
        if size == 0 {
            entries.warn(.missingSize)
            size = 1
        }
        guard (1...Self.maximumSize).contains(size) else { throw .sizeOutOfRange }
        let index = Int(numbers[.index] ?? 0)
        guard (0..<size).contains(index) else { throw .indexOutOfRange }
        self.init(
            version: version, size: size, index: index, id: numbers[.id] ?? 0,
            credentials: entries.credentials, refusals: entries.refusals,
            warnings: entries.warnings)
    }
}

/// The field numbers of an entry.
enum MigrationEntryField: Int {
    case key = 1
    case name, issuer, algorithm, digits, type, counter, uniqueID
}

/// Collects the entries of one part.
struct MigrationEntries {
    private(set) var warnings: [MigrationWarning]
    private(set) var credentials: [Credential] = []
    private(set) var refusals: [MigrationRefusal] = []
    private var count = 0

    /// A part with more deviations than this is probably meant to flood the user with warnings.
    private static let maximumWarningCount = 100

    init(warnings: [MigrationWarning]) { self.warnings = warnings }

    mutating func warn(_ warning: MigrationWarning) {
        if warnings.count < Self.maximumWarningCount { warnings.append(warning) }
    }

    /// Reads the entry at `range`.
    mutating func take(_ range: Range<Int>, of bytes: Span<UInt8>) throws(MigrationError) {
        let entry = count
        count += 1
        var reader = ProtobufReader(range)
        var numbers: [MigrationEntryField: UInt64] = [:]
        var ranges: [MigrationEntryField: Range<Int>] = [:]
        while let field = try reader.next(in: bytes) {
            switch (MigrationEntryField(rawValue: field.number), field) {
            case (let name?, .bytes(_, let range)) where name.isBytes:
                guard ranges.updateValue(range, forKey: name) == nil else {
                    throw .field(field.number)
                }
            case (let name?, .varint(_, let value)) where !name.isBytes:
                guard numbers.updateValue(value, forKey: name) == nil else {
                    throw .field(field.number)
                }
            case (_?, _):
                throw .field(field.number)
            case (nil, _):
                warn(.unknownField(entry: entry, field: field.number))
            }
        }
        let refusal = takeCredential(entry, numbers, ranges, bytes)
        if let refusal { refusals.append(MigrationRefusal(entry: entry, reason: refusal)) }
    }

    /// Adds the entry's credential, or returns why there is none.
    private mutating func takeCredential(
        _ entry: Int, _ numbers: [MigrationEntryField: UInt64],
        _ ranges: [MigrationEntryField: Range<Int>], _ bytes: Span<UInt8>
    ) -> MigrationRefusal.Reason? {
        guard let keyRange = ranges[.key], !keyRange.isEmpty else { return .missingKey }
        guard let algorithm = algorithm(numbers[.algorithm] ?? 0, entry) else {
            return .unknownAlgorithm
        }
        guard let length = length(numbers[.digits] ?? 0, entry) else { return .unknownDigits }
        // The counter is a signed number; a negative one is invalid.
        let counter = Int64(bitPattern: numbers[.counter] ?? 0)
        guard let movingFactor = movingFactor(numbers[.type] ?? 0, counter, entry) else {
            return .unknownType
        }
        if case .counter = movingFactor, counter < 0 { return .counterOutOfRange }
        let names = names(
            name: text(ranges[.name], entry, bytes), issuer: text(ranges[.issuer], entry, bytes),
            entry)
        do {
            credentials.append(
                try Credential(
                    issuer: names.issuer, account: names.account,
                    key: SecretBytes(copying: bytes.extracting(keyRange)), algorithm: algorithm,
                    style: .decimal(length), movingFactor: movingFactor))
            return nil
        } catch {
            // The key is not empty, the names were trimmed, and there are no parameters.
            return .tooLong
        }
    }

    private mutating func algorithm(_ number: UInt64, _ entry: Int) -> HashAlgorithm? {
        switch number {
        case 0:
            warn(.missingAlgorithm(entry: entry))
            return .sha1
        case 1: return .sha1
        case 2: return .sha256
        case 3: return .sha512
        default: return nil  // 4 is MD5.
        }
    }

    private mutating func length(_ number: UInt64, _ entry: Int) -> CodeLength? {
        switch number {
        case 0:
            warn(.missingDigits(entry: entry))
            return .six
        case 1: return .six
        case 2: return .eight
        default: return nil
        }
    }

    private mutating func movingFactor(
        _ type: UInt64, _ counter: Int64, _ entry: Int
    ) -> MovingFactor? {
        switch type {
        case 1: return .counter(UInt64(bitPattern: counter))
        case 0:
            warn(.missingType(entry: entry))
            return .time(.standard)
        case 2: return .time(.standard)
        default: return nil
        }
    }

    /// Removes the issuer from the name, which often repeats it.
    ///
    /// Any other colon belongs to the account.
    private mutating func names(
        name: String, issuer: String, _ entry: Int
    ) -> (issuer: String, account: String) {
        let prefix = "\(issuer):"
        if !issuer.isEmpty, name.utf8.starts(with: prefix.utf8) {
            let rest = name.utf8.dropFirst(prefix.utf8.count)
            return (issuer, trimmed(String(decoding: Array(rest), as: UTF8.self), entry))
        }
        return (issuer, name)
    }

    private mutating func text(
        _ range: Range<Int>?, _ entry: Int, _ bytes: Span<UInt8>
    ) -> String {
        guard let range else { return "" }
        let copy = range.map { bytes[$0] }
        if let text = String(validating: copy, as: UTF8.self) { return trimmed(text, entry) }
        warn(.readAsLatin1(entry: entry))
        var text = ""
        for byte in copy { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        return trimmed(text, entry)
    }

    private mutating func trimmed(_ text: String, _ entry: Int) -> String {
        guard text.hasSpaceAround else { return text }
        warn(.spacesAround(entry: entry))
        return text.trimmed
    }
}

extension MigrationEntryField {
    var isBytes: Bool {
        switch self {
        case .key, .name, .issuer, .uniqueID: true
        case .algorithm, .digits, .type, .counter: false
        }
    }
}
