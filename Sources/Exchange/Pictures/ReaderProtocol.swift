internal import ProcessConfinement
internal import WatchwordSystem

// The protocol between `watchword` and `watchword-reader`. A count of bytes is little-endian, as in
// every frame.
//
// reader → watchword, once:  frame: a ``HelperGreeting``
// watchword → reader, each:  chunks: count (4 bytes), that many bytes of the picture;
//                       a count of 0 ends the picture, 0xffffffff drops it without an answer
// reader → watchword, each:  frame: a ``PictureFinding``
// A frame is its count of bytes (4 bytes) and the bytes. Nothing is sent unsolicited.

/// The limits that both ends observe.
enum ReaderProtocol {
    static let identity = HelperGreeting.Identity(mark: "WWR", version: 3)
    /// Bytes of a picture file, 32 MiB.
    static let largestPicture = 32 << 20
    /// The maximum size of a chunk of a picture, in bytes.
    static let largestChunk = 1 << 16
    /// Bytes of an answer: enough for more than 80 of the longest symbols.
    static let largestAnswer = 1 << 18
    static let maximumSymbolCount = 1_000
    static let maximumWordCount = 64
    /// Sent instead of a chunk's count: the picture is dropped.
    static let dropped = UInt32.max
}
