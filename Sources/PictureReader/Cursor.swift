/// A place in bytes that a stranger sent; every step ahead may find too few.
///
/// The bytes are lent to each step, since a value that holds a `Span` cannot be written in this Swift.
struct Cursor {
    private(set) var position = 0

    /// Whether everything was taken.
    func isAtEnd(of bytes: Span<UInt8>) -> Bool { position == bytes.count }

    /// Takes one byte.
    mutating func byte(of bytes: Span<UInt8>) -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Takes a number of `width` bytes, lowest first.
    mutating func number(width: Int, of bytes: Span<UInt8>) -> Int? {
        guard let range = range(count: width, of: bytes) else { return nil }
        return range.reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }

    /// Steps over `count` bytes and tells where they are.
    mutating func range(count: Int, of bytes: Span<UInt8>) -> Range<Int>? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return position..<position + count
    }

    /// Takes a word of a few plain ASCII characters, counted by a byte before it.
    mutating func word(of bytes: Span<UInt8>) -> String? {
        guard let count = byte(of: bytes), (1...ReaderProtocol.longestWord).contains(Int(count)),
            let range = range(count: Int(count), of: bytes),
            range.allSatisfy({ ReaderProtocol.isPlain(bytes[$0]) })
        else { return nil }
        return String(decoding: range.map { bytes[$0] }, as: UTF8.self)
    }
}
