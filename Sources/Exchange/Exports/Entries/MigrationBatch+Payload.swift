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

    /// Adds the entry's credential, or returns why the entry has none.
    private mutating func takeCredential(
        _ entry: Int, _ numbers: [MigrationEntryField: UInt64],
        _ ranges: [MigrationEntryField: Range<Int>], _ bytes: Span<UInt8>
    ) -> MigrationRefusal.Reason? {
        guard let keyRange = ranges[.key], !keyRange.isEmpty else { return .missingKey }
        guard let algorithm = algorithm(numbers[.algorithm] ?? 0, entry) else {
            return .unknownAlgorithm
        }
        guard let length = length(numbers[.digits] ?? 0, entry) else { return .unknownDigits }
        // The counter is a signed number; a negative counter is invalid.
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

/// A field of a Protocol Buffers message and the position of its value.
enum ProtobufField {
    case varint(field: Int, value: UInt64)
    /// Bytes, text or a nested message.
    case bytes(field: Int, range: Range<Int>)
    /// A fixed-width number, which no message here contains.
    case fixed(field: Int)

    var number: Int {
        switch self {
        case .varint(let field, _), .bytes(let field, _), .fixed(let field): field
        }
    }
}

/// Iterates over the fields of a Protocol Buffers message (proto3 encoding, without groups).
///
/// A length is never trusted beyond the end of the message, and never determines the size of an
/// allocation.
struct ProtobufReader {
    private var position: Int
    private let end: Int

    /// Reads the message at `range`.
    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next field; `nil` at the end of the message.
    mutating func next(in bytes: Span<UInt8>) throws(MigrationError) -> ProtobufField? {
        guard position < end else { return nil }
        let key = try varint(in: bytes)
        // Field numbers have 29 bits.
        guard let field = Int(exactly: key >> 3), (1..<(1 << 29)).contains(field) else {
            throw .malformed(at: position)
        }
        switch key & 7 {
        case 0:
            return .varint(field: field, value: try varint(in: bytes))
        case 1:
            try skip(8)
            return .fixed(field: field)
        case 2:
            let length = try varint(in: bytes)
            guard let count = Int(exactly: length), count <= end - position else {
                throw .truncated
            }
            try skip(count)
            return .bytes(field: field, range: (position - count)..<position)
        case 5:
            try skip(4)
            return .fixed(field: field)
        default:
            throw .malformed(at: position)
        }
    }

    private mutating func skip(_ count: Int) throws(MigrationError) {
        guard count <= end - position else { throw .truncated }
        position += count
    }

    /// A number in groups of seven bits, the lowest first, with at most 64 bits.
    private mutating func varint(in bytes: Span<UInt8>) throws(MigrationError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard position < end else { throw .truncated }
            let byte = bytes[position]
            position += 1
            // The tenth byte can hold only one bit.
            guard shift < 63 || byte <= 1 else { throw .malformed(at: position) }
            value |= UInt64(byte & 0x7f) << shift
            guard byte & 0x80 != 0 else { return value }
            shift += 7
        }
    }
}

/// Writes the fields of a Protocol Buffers message.
enum ProtobufWriter {
    static func append(_ value: UInt64, field: Int, to output: inout OutputSpan<UInt8>) {
        appendVarint(UInt64(field) << 3, to: &output)
        appendVarint(value, to: &output)
    }

    static func append(_ bytes: Span<UInt8>, field: Int, to output: inout OutputSpan<UInt8>) {
        appendVarint(UInt64(field) << 3 | 2, to: &output)
        appendVarint(UInt64(bytes.count), to: &output)
        output.append(copying: bytes)
    }

    private static func appendVarint(_ value: UInt64, to output: inout OutputSpan<UInt8>) {
        var left = value
        while left >= 0x80 {
            output.append(UInt8(truncatingIfNeeded: left) | 0x80)
            left >>= 7
        }
        output.append(UInt8(truncatingIfNeeded: left))
    }
}
