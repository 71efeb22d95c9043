/// Writes the values of a stored row in sequence.
///
/// Numbers are big-endian. A two-byte length precedes a text or byte string. A byte 0 or 1 precedes
/// an optional value. No two lists of values therefore have the same encoding.
package struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// The initial capacity in bytes; rows and events are rarely longer.
    private static let typicalCount = 384

    init() { bytes.reserveCapacity(Self.typicalCount) }

    mutating func write(_ value: some FixedWidthInteger) {
        var shift = value.bitWidth
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Writes a byte string of at most 65,535 bytes.
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

    mutating func writeOptional<Value>(
        _ value: Value?, by body: (inout ByteWriter, Value) -> Void
    ) {
        write(value != nil)
        if let value { body(&self, value) }
    }
}

/// Reads only the exact encoding of ``ByteWriter``.
///
/// Its methods throw ``VerifierError/damagedRow`` for any other encoding.
struct ByteReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read<Value: FixedWidthInteger>(
        _ type: Value.Type = Value.self
    ) throws(VerifierError) -> Value {
        var value: Value = 0
        for place in try take(Value.bitWidth / 8) {
            value =
                (Value.bitWidth > 8 ? value << 8 : 0) | Value(truncatingIfNeeded: bytes[place])
        }
        return value
    }

    mutating func readBytes() throws(VerifierError) -> [UInt8] {
        Array(bytes[try take(Int(try read(UInt16.self)))])
    }

    mutating func readText() throws(VerifierError) -> String {
        let places = try take(Int(try read(UInt16.self)))
        guard let text = String(validating: bytes[places], as: UTF8.self) else {
            throw .damagedRow
        }
        return text
    }

    mutating func readTime() throws(VerifierError) -> UnixTime {
        UnixTime(milliseconds: try read())
    }

    mutating func readID<Named>() throws(VerifierError) -> PrefixedID<Named> {
        guard let id = PrefixedID<Named>(bytes: try readBytes()) else { throw .damagedRow }
        return id
    }

    mutating func readSubject() throws(VerifierError) -> Subject {
        guard let subject = Subject(utf8: try readBytes()) else { throw .damagedRow }
        return subject
    }

    mutating func readFlag() throws(VerifierError) -> Bool {
        switch try read(UInt8.self) {
        case 0: false
        case 1: true
        default: throw .damagedRow
        }
    }

    mutating func readOptionalBytes() throws(VerifierError) -> [UInt8]? {
        try readFlag() ? readBytes() : nil
    }

    /// Reads the raw value of an enumeration.
    mutating func readChoice<Choice: RawRepresentable<String>>() throws(VerifierError) -> Choice {
        guard let choice = Choice(rawValue: try readText()) else { throw .damagedRow }
        return choice
    }

    /// Whether no bytes are left.
    var isAtEnd: Bool { index == bytes.count }

    /// Checks that no bytes are left.
    func end() throws(VerifierError) { guard isAtEnd else { throw .damagedRow } }

    /// The indices of the next `count` bytes.
    private mutating func take(_ count: Int) throws(VerifierError) -> Range<Int> {
        guard count <= bytes.count - index else { throw .damagedRow }
        defer { index += count }
        return index..<(index + count)
    }
}
