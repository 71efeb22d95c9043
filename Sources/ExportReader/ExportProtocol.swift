internal import POSIX

// The protocol between `watchword` and `watchword-exports`. Numbers are little-endian.
//
// exports → watchword, once:  frame: a ``HelperGreeting``
// watchword → exports, once:  chunks: count (4 bytes), that many bytes of the file; a count of 0
//                             ends the file
// exports → watchword, each:  frame: an ``ExportAnswer``
// watchword → exports, each:  a password: count (4 bytes) and the bytes; the file is read again
// A frame is its count of bytes (4 bytes) and the bytes. Nothing is sent unsolicited.

/// The limits that both ends observe.
enum ExportProtocol {
    static let identity = HelperGreeting.Identity(mark: "WWX", version: 1)
    /// Bytes of a file, 128 MiB.
    static let largestFile = 128 << 20
    /// The maximum size of a chunk of a file, in bytes.
    static let largestChunk = 1 << 16
    /// Bytes of an ``ExportAnswer``, 64 MiB.
    static let largestAnswer = 64 << 20
    static let longestPassword = 1 << 12
    /// Entries and refused rows.
    static let mostRows = 20_000
    /// Bytes of a note or another text, 1 MiB.
    static let longestText = 1 << 20
    static let mostWarnings = 1_000
    static let mostTags = 10_000
}
