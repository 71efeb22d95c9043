internal import ProcessConfinement
internal import WatchwordSystem

// The protocol between `watchword` and `watchword-exports`. A count of bytes is little-endian, as in
// every frame.
//
// exports → watchword, once:  frame: a ``HelperGreeting``
// watchword → exports, once:  parts; the file is the last one
// exports → watchword, each:  frame: an ``ExportAnswer``
// watchword → exports, each:  a password: count (4 bytes) and the bytes; the file is read again
// A part is a chunk with one byte, an ``ExportPart``, chunks with the content, and a count of 0; a
// chunk is its count of bytes (4 bytes) and the bytes, and so is a frame. Nothing is sent
// unsolicited.
//
// With the argument "raised-limits" the program accepts larger files and costlier encryption.

/// What is sent to the reader.
enum ExportPart: UInt8 {
    case file, name, manifest, keyFile
}

/// The limits that both ends observe.
enum ExportProtocol {
    static let identity = HelperGreeting.Identity(mark: "WWX", version: 2)
    static let raisedLimits = "raised-limits"
    /// The maximum size of a chunk of a file, in bytes.
    static let largestChunk = 1 << 16
    /// The maximum size of a part other than the file, in bytes.
    static let largestPart = 1 << 20
    static let longestPassword = 1 << 12
    static let mostWarnings = 1_000
    static let mostTags = 10_000
}
