/// A short word of printable ASCII in a helper's frame, preceded by its count in one byte.
///
/// It may be shown on a terminal.
public enum ShortWord {
    /// The maximum number of bytes.
    static let longest = 48

    /// Encodes a word; characters other than printable ASCII become question marks.
    public static func bytes(of text: String) -> [UInt8] {
        text.utf8.prefix(longest).map { isPlain($0) ? $0 : UInt8(ascii: "?") }
    }

    /// Whether a byte may occur in a word.
    static func isPlain(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) }
}

extension FieldReader {
    /// Reads a ``ShortWord``.
    public mutating func word(_ bytes: Span<UInt8>) throws(Unreadable) -> String {
        let count = Int(try byte(bytes))
        guard (1...ShortWord.longest).contains(count) else { throw Unreadable() }
        let range = try take(count, of: bytes)
        guard range.allSatisfy({ ShortWord.isPlain(bytes[$0]) }) else { throw Unreadable() }
        return String(decoding: range.map { bytes[$0] }, as: UTF8.self)
    }
}
