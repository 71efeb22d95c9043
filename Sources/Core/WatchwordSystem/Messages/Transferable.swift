/// A value that the processes of this project send to each other.
///
/// All of them have the same version, so the encoding is not a stable format. Numbers are
/// big-endian, and a string or a list is preceded by its count in four bytes. Reading allocates
/// memory only in proportion to the number of bytes received.
///
/// A value lists its fields once for each direction:
///
///     func write(to output: FrameWriter) { output.append(path, time) }
///
///     init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
///         self = try fields.make(Self.init, from: bytes)
///     }
///
/// An enum with associated values has a nested enum of its cases, which is the first field.
package protocol Transferable {
    typealias Unreadable = FieldReader.Unreadable

    /// Appends the encoding of the value.
    func write(to output: FrameWriter)

    /// Reads what ``write(to:)`` appends.
    ///
    /// This may accept values that their owner refuses, such as a name that is too long: the
    /// owner's error then states the reason.
    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable)
}

extension Transferable {
    /// Reads a value that fills `bytes`.
    package init(parsing bytes: Span<UInt8>) throws(Unreadable) {
        var fields = FieldReader(.bigEndian)
        try self.init(reading: &fields, in: bytes)
        try fields.finish(bytes)
    }
}

extension WipedBuffer {
    /// The value that fills the buffer; `nil` if there is none.
    package func value<Value: Transferable>(as type: Value.Type = Value.self) -> Value? {
        ifPossible(
            try withBytes { bytes throws(FieldReader.Unreadable) in try Value(parsing: bytes) })
    }
}

/// The limits of a value that another process sends, unless its reader sets a lower limit.
package enum TransferLimits {
    /// The maximum size of a text or secret in bytes.
    package static let string = 1 << 20
    /// The maximum number of elements in a list.
    package static let elements = 1 << 20
}

extension FrameWriter {
    /// Appends the fields of a value in order.
    package func append<each Field: Transferable>(_ field: repeat each Field) {
        repeat (each field).write(to: self)
    }
}

extension FieldReader {
    package mutating func value<Value: Transferable>(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> Value {
        try Value(reading: &self, in: bytes)
    }

    /// Reads the fields of a value in order, and makes the value from them.
    ///
    /// - Parameter make: a case of an enum, or an initialiser; fields that it refuses are
    ///   unreadable.
    package mutating func make<Value, each Field: Transferable>(
        _ make: (repeat each Field) throws -> Value?, from bytes: Span<UInt8>
    ) throws(Unreadable) -> Value {
        let fields = (repeat try (each Field)(reading: &self, in: bytes))
        let made: Value?
        do { made = try make(repeat each fields) } catch { throw Unreadable() }
        guard let made else { throw Unreadable() }
        return made
    }

    /// Reads a list of at most `most` values.
    package mutating func list<Value: Transferable>(
        _ bytes: Span<UInt8>, most: Int
    ) throws(Unreadable) -> [Value] {
        try list(bytes, most: most) { (fields, bytes) throws(Unreadable) in
            try fields.value(bytes)
        }
    }
}

/// A short word of printable ASCII, preceded by its count in one byte.
///
/// It may be shown on a terminal.
public struct ShortWord: Hashable, Sendable {
    /// The word, in printable ASCII.
    public let text: String

    /// The maximum number of bytes.
    static let longest = 48

    /// Truncates `text`, and replaces characters other than printable ASCII with question marks.
    public init(showing text: String) {
        let bytes = text.utf8.prefix(ShortWord.longest)
        self.text = String(
            decoding: bytes.map { ShortWord.isPlain($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// Whether a byte may occur in a word.
    static func isPlain(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) }
}

extension ShortWord: Transferable {
    package func write(to output: FrameWriter) {
        output.append(UInt8(text.utf8.count))
        for byte in text.utf8 { output.append(byte) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let count = Int(try fields.byte(bytes))
        guard (1...ShortWord.longest).contains(count) else { throw Unreadable() }
        let range = try fields.take(count, of: bytes)
        guard range.allSatisfy({ ShortWord.isPlain(bytes[$0]) }) else { throw Unreadable() }
        text = String(decoding: range.map { bytes[$0] }, as: UTF8.self)
    }
}
