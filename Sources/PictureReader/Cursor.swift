/// A position in untrusted bytes; every step may find too few of them.
///
/// The bytes are lent to each step, since a value that holds a `Span` cannot be written in this Swift.
struct Cursor {
    private(set) var position = 0

    /// Whether all bytes were read.
    func isAtEnd(of bytes: Span<UInt8>) -> Bool { position == bytes.count }

    /// Reads one byte.
    mutating func byte(of bytes: Span<UInt8>) -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a number of `width` bytes, lowest first.
    mutating func number(width: Int, of bytes: Span<UInt8>) -> Int? {
        guard let range = range(count: width, of: bytes) else { return nil }
        return range.reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }

    /// Skips `count` bytes and returns their range.
    mutating func range(count: Int, of bytes: Span<UInt8>) -> Range<Int>? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return position..<position + count
    }

    /// Reads a short word of printable ASCII characters, preceded by its count in one byte.
    mutating func word(of bytes: Span<UInt8>) -> String? {
        guard let count = byte(of: bytes), (1...ReaderProtocol.longestWord).contains(Int(count)),
            let range = range(count: Int(count), of: bytes),
            range.allSatisfy({ ReaderProtocol.isPlain(bytes[$0]) })
        else { return nil }
        return String(decoding: range.map { bytes[$0] }, as: UTF8.self)
    }
}
