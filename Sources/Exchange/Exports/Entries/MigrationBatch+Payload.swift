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
