/// Why a QR code could not be drawn, or a picture not written.
public enum QRDrawingError: Error, Hashable, Sendable {
    /// The text is empty.
    case empty
    /// The text is longer than `limit`, the number of bytes that the largest symbol holds.
    case tooLong(limit: Int)
    /// The library with this name is not installed.
    case libraryMissing(String)
    /// libqrencode failed with this `errno`, for example because memory ran out.
    case encodingFailed(errno: Int32)
    /// libpng ran out of memory.
    case noMemoryForPicture
}
