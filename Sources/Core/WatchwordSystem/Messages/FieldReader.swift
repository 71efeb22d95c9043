/// Reads the fields of a binary format in order: numbers, and strings that follow a 32-bit length.
///
/// The bytes are lent to each step, because this version of Swift does not support types that store
/// a `Span`. They may be secret: only ``text(_:limit:)`` and ``data(_:limit:)`` copy them.
public struct FieldReader: Sendable {
    /// The byte order of numbers.
    public enum ByteOrder: Sendable {
        case bigEndian, littleEndian
    }

    /// The bytes are malformed.
    ///
    /// The caller knows what they encode, and reports the error.
    public struct Unreadable: Error, Hashable, Sendable {
        /// Creates the error, which carries no facts.
        public init() {}
    }

    /// How many bytes were read.
    public private(set) var position = 0
    private let order: ByteOrder

    /// Starts at the beginning.
    public init(_ order: ByteOrder) { self.order = order }

    /// Reads the next byte of `bytes`.
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

    /// Reads a string of at most `limit` bytes, and copies it.
    package mutating func data(_ bytes: Span<UInt8>, limit: Int) throws(Unreadable) -> [UInt8] {
        try string(bytes, limit: limit).map { bytes[$0] }
    }

    /// Reads a byte that is 0 or 1.
    package mutating func flag(_ bytes: Span<UInt8>) throws(Unreadable) -> Bool {
        let value = try byte(bytes)
        guard value <= 1 else { throw Unreadable() }
        return value == 1
    }

    /// Reads a value whose raw value is one byte.
    package mutating func choice<Choice: RawRepresentable>(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> Choice where Choice.RawValue == UInt8 {
        guard let choice = Choice(rawValue: try byte(bytes)) else { throw Unreadable() }
        return choice
    }

    /// Reads the position of a value among all values of its type.
    package mutating func choiceByPosition<Choice: CaseIterable>(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> Choice {
        let position = Int(try byte(bytes))
        for (index, choice) in Choice.allCases.enumerated() where index == position {
            return choice
        }
        throw Unreadable()
    }

    /// Reads a list of at most `most` elements.
    package mutating func list<Element>(
        _ bytes: Span<UInt8>, most: Int,
        _ read: (inout FieldReader, Span<UInt8>) throws(Unreadable) -> Element
    ) throws(Unreadable) -> [Element] {
        let count = Int(try number(bytes, width: 4))
        // Each element has at least one byte.
        guard count <= most, count <= bytes.count - position else { throw Unreadable() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read(&self, bytes)) }
        return elements
    }

    /// Reads a signed number of eight bytes.
    package mutating func signedNumber(_ bytes: Span<UInt8>) throws(Unreadable) -> Int64 {
        Int64(bitPattern: try number(bytes, width: 8))
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
