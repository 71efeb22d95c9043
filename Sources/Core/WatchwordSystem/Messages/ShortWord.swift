/// A short word of printable ASCII, preceded by its count in one byte.
///
/// It may be shown on a terminal.
public struct ShortWord: Hashable, Sendable {
    /// The word.
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
