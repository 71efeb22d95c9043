/// Reads the fields of a binary format in order: numbers, and strings that follow a 32-bit length.
///
/// The bytes are lent to each step, because this version of Swift does not support types that store
/// a `Span`. They may be secret: only ``text(_:limit:)`` copies them.
public struct FieldReader: Sendable {
    /// The byte order of numbers.
    public enum ByteOrder: Sendable {
        case bigEndian, littleEndian
    }

    /// The bytes are malformed.
    ///
    /// The caller knows what they encode, and reports the error.
    public struct Unreadable: Error, Hashable, Sendable {
        /// Creates the error.
        public init() {}
    }

    /// How many bytes were read.
    public private(set) var position = 0
    private let order: ByteOrder

    /// Starts at the beginning.
    public init(_ order: ByteOrder) { self.order = order }

    /// Reads one byte.
    public mutating func byte(_ bytes: Span<UInt8>) throws(Unreadable) -> UInt8 {
        bytes[try take(1, of: bytes).lowerBound]
    }

    /// Reads a number of at most eight bytes.
    public mutating func number(_ bytes: Span<UInt8>, width: Int) throws(Unreadable) -> UInt64 {
        let range = try take(width, of: bytes)
        var value: UInt64 = 0
        switch order {
        case .bigEndian: for index in range { value = value << 8 | UInt64(bytes[index]) }
        case .littleEndian:
            for index in range.reversed() { value = value << 8 | UInt64(bytes[index]) }
        }
        return value
    }

    /// Reads a string of at most `limit` bytes; returns its range.
    public mutating func string(_ bytes: Span<UInt8>, limit: Int) throws(Unreadable) -> Range<Int> {
        let count = try number(bytes, width: 4)
        guard count <= UInt64(limit) else { throw Unreadable() }
        return try take(Int(count), of: bytes)
    }

    /// Reads a string of at most `limit` bytes of UTF-8.
    public mutating func text(_ bytes: Span<UInt8>, limit: Int) throws(Unreadable) -> String {
        let range = try string(bytes, limit: limit)
        do {
            return String(copying: try UTF8Span(validating: bytes.extracting(range)))
        } catch {
            throw Unreadable()
        }
    }

    /// Skips `count` bytes; returns their range.
    public mutating func take(
        _ count: Int, of bytes: Span<UInt8>
    ) throws(Unreadable) -> Range<Int> {
        guard count <= bytes.count - position else { throw Unreadable() }
        defer { position += count }
        return position..<position + count
    }

    /// Verifies that no bytes are left.
    public func finish(_ bytes: Span<UInt8>) throws(Unreadable) {
        guard position == bytes.count else { throw Unreadable() }
    }
}

// The big-endian fields of the vault.
extension OutputSpan<UInt8> {
    /// Appends a number as `count` bytes, big-endian.
    public mutating func append(_ value: UInt64, bytes count: Int) {
        for index in (0..<count).reversed() {
            append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }

    /// Appends a 32-bit length, big-endian, and the bytes.
    public mutating func append(string bytes: Span<UInt8>) {
        append(UInt64(bytes.count), bytes: 4)
        for index in bytes.indices { append(bytes[index]) }
    }
}
