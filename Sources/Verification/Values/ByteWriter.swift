/// Writes the values of a stored row one behind the other.
///
/// Numbers are big-endian; a text or a run of bytes has its count, two bytes, in front; what may be
/// missing has a byte 0 or 1 in front. So no two lists of values give the same bytes.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// A row or an event is seldom longer.
    private static let usualCount = 384

    init() { bytes.reserveCapacity(Self.usualCount) }

    mutating func write(_ value: some FixedWidthInteger) {
        var shift = value.bitWidth
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// At most 65,535 bytes.
    mutating func write(_ run: [UInt8]) {
        write(UInt16(run.count))
        bytes.append(contentsOf: run)
    }

    mutating func write(_ text: String) {
        write(UInt16(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(_ time: UnixTime) { write(time.milliseconds) }

    mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func writeIfThere<Value>(
        _ value: Value?, by body: (inout ByteWriter, Value) -> Void
    ) {
        write(value != nil)
        if let value { body(&self, value) }
    }
}

/// Reads what ``ByteWriter`` wrote, and nothing else.
struct ByteReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read<Value: FixedWidthInteger>(
        _ type: Value.Type = Value.self
    ) throws(ByteReaderError) -> Value {
        var value: Value = 0
        for place in try take(Value.bitWidth / 8) {
            value =
                (Value.bitWidth > 8 ? value << 8 : 0) | Value(truncatingIfNeeded: bytes[place])
        }
        return value
    }

    mutating func readBytes() throws(ByteReaderError) -> [UInt8] {
        Array(bytes[try take(Int(try read(UInt16.self)))])
    }

    mutating func readText() throws(ByteReaderError) -> String {
        let places = try take(Int(try read(UInt16.self)))
        guard let text = String(validating: bytes[places], as: UTF8.self) else {
            throw .malformed
        }
        return text
    }

    mutating func readTime() throws(ByteReaderError) -> UnixTime {
        UnixTime(milliseconds: try read())
    }

    mutating func readFlag() throws(ByteReaderError) -> Bool {
        switch try read(UInt8.self) {
        case 0: false
        case 1: true
        default: throw .malformed
        }
    }

    mutating func readIfThere<Value>(
        by body: (inout ByteReader) throws(ByteReaderError) -> Value
    ) throws(ByteReaderError) -> Value? {
        try readFlag() ? try body(&self) : nil
    }

    /// Nothing may be left over.
    func end() throws(ByteReaderError) {
        guard index == bytes.count else { throw .malformed }
    }

    /// The places of the next so many bytes.
    private mutating func take(_ count: Int) throws(ByteReaderError) -> Range<Int> {
        guard count <= bytes.count - index else { throw .malformed }
        defer { index += count }
        return index..<(index + count)
    }
}

/// Bytes that ``ByteWriter`` did not write.
enum ByteReaderError: Error, Hashable, Sendable {
    case malformed
}
