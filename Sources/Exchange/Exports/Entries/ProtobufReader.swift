internal import WatchwordCryptography

/// A field of a Protocol Buffers message and the position of its value.
enum ProtobufField {
    /// A number.
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
