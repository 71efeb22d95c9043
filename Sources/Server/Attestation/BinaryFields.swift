internal import WatchwordSystem

/// Reads the fields of a binary structure in order; numbers are big-endian.
struct BinaryFields {
    typealias Unreadable = FieldReader.Unreadable

    private let bytes: [UInt8]
    private var fields = FieldReader(.bigEndian)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// How many bytes were read.
    var position: Int { fields.position }

    /// Reads a number of `width` bytes.
    mutating func number(_ width: Int) throws(Unreadable) -> UInt64 {
        let bytes = bytes
        return try fields.number(bytes.span, width: width)
    }

    /// Reads `count` bytes.
    mutating func take(_ count: Int) throws(Unreadable) -> [UInt8] {
        let bytes = bytes
        return Array(bytes[try fields.take(count, of: bytes.span)])
    }

    /// Reads bytes that follow their length in two bytes (`TPM2B`).
    mutating func sized() throws(Unreadable) -> [UInt8] {
        let count = Int(try number(2))
        return try take(count)
    }

    /// Verifies that no bytes are left.
    func finish() throws(Unreadable) { try fields.finish(bytes.span) }
}
