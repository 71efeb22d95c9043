internal import POSIX

// The protocol between `watchword` and `watchword-reader`. Numbers are little-endian.
//
// reader → watchword, once:  frame: "WWR", version, 0 for confined
//                              or "WWR", version, 1, error number (4 bytes), name of the call
// watchword → reader, each:  chunks: count (4 bytes), that many bytes of the picture;
//                       a count of 0 ends the picture, 0xffffffff drops it without an answer
// reader → watchword, each:  frame: an ``Answer``
// A frame is its count of bytes (4 bytes) and the bytes. Nothing is sent unsolicited.
//
// With the argument "exports" the program reads one file, a picture or another app's export, and
// may use more memory and time:
//
// watchword → reader, once:  chunks as above, at most 128 MiB
// reader → watchword, each:  frame: an ``Answer`` or an ``ExportAnswer``, whose first byte tells
//                            them apart
// watchword → reader, each:  a password: count (4 bytes) and the bytes; the file is read again

/// The limits that both ends observe.
enum ReaderProtocol {
    static let version: UInt8 = 2
    static let mark: [UInt8] = Array("WWR".utf8)
    /// Bytes of a picture file, 32 MiB.
    static let largestPicture = 32 << 20
    /// The maximum size of a chunk of a picture, in bytes.
    static let largestChunk = 1 << 16
    static let largestGreeting = 64
    /// Bytes of an answer: enough for more than 80 of the longest symbols.
    static let largestAnswer = 1 << 18
    static let maximumSymbolCount = 1_000
    static let maximumWordCount = 64
    static let longestWord = 48
    /// Sent instead of a chunk's count: the picture is dropped.
    static let dropped = UInt32.max

    /// The program's argument for reading an export.
    static let exportTask = "exports"
    /// Bytes of an export, 128 MiB.
    static let largestExport = 128 << 20
    /// Bytes of an ``ExportAnswer``, 64 MiB.
    static let largestExportAnswer = 64 << 20
    static let longestPassword = 1 << 12
    /// Entries and refused rows of an export.
    static let mostRows = 20_000
    /// Bytes of a note or another text of an export, 1 MiB.
    static let longestText = 1 << 20
    static let mostWarnings = 1_000
    static let mostTags = 10_000

    /// Encodes a word: characters other than printable ASCII become question marks.
    static func word(_ text: String) -> [UInt8] {
        text.utf8.prefix(longestWord).map { isPlain($0) ? $0 : UInt8(ascii: "?") }
    }

    /// Whether a byte may occur in a word, which may be shown on a terminal.
    static func isPlain(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) }
}

extension FieldReader {
    /// Reads a short word of printable ASCII characters, preceded by its count in one byte.
    mutating func word(_ bytes: Span<UInt8>) throws(Unreadable) -> String {
        let count = Int(try byte(bytes))
        guard (1...ReaderProtocol.longestWord).contains(count) else { throw Unreadable() }
        let range = try take(count, of: bytes)
        guard range.allSatisfy({ ReaderProtocol.isPlain(bytes[$0]) }) else { throw Unreadable() }
        return String(decoding: range.map { bytes[$0] }, as: UTF8.self)
    }
}
