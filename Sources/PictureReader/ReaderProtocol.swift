// How the two ends talk. Numbers are little-endian.
//
// reader → us, once:    frame: "WWR", version, 0 for confined
//                              or "WWR", version, 1, error number (4 bytes), name of the call
// us → reader, each:    chunks: count (4 bytes), so many bytes of the picture;
//                       a count of 0 ends the picture, 0xffffffff drops it without an answer
// reader → us, each:    frame: an ``Answer``
// A frame is its count of bytes (4 bytes) and the bytes. Nothing is said unasked.

/// The numbers that both ends of the pipe go by.
enum ReaderProtocol {
    static let version: UInt8 = 1
    static let mark: [UInt8] = Array("WWR".utf8)
    /// Bytes of a picture file, 32 MiB.
    static let largestPicture = 32 << 20
    /// Bytes of a picture in one go.
    static let largestChunk = 1 << 16
    static let largestGreeting = 64
    /// Bytes of an answer: some hundred symbols of the longest kind.
    static let largestAnswer = 1 << 18
    static let mostSymbols = 1_000
    static let mostWords = 64
    static let longestWord = 48
    /// Instead of a chunk's count: the picture is dropped.
    static let dropped = UInt32.max

    /// Makes a word fit for the pipe: what is not plain ASCII becomes a question mark.
    static func word(_ text: String) -> [UInt8] {
        text.utf8.prefix(longestWord).map { isPlain($0) ? $0 : UInt8(ascii: "?") }
    }

    /// Whether a byte may stand in a word, which may end up on somebody's terminal.
    static func isPlain(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) }
}

extension UInt32 {
    /// The four bytes, lowest first.
    var littleEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}
