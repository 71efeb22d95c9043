/// Why a file could not be read as a picture.
public enum ImageFileError: Error, Hashable, Sendable {
    /// The content is not a known picture format.
    case notAPicture
    /// A picture format that is recognised but not supported.
    case unsupported(UnsupportedImageFormat)
    /// The library for this format is not loaded.
    case libraryMissing(ImageFormat)
    /// The file, or the size in its header, exceeds a limit.
    case tooLarge(PictureLimit, found: Int, allowed: Int)
    /// The header or the data after it is invalid.
    case damaged(ImageFormat)
    /// The file can be read only with a password.
    case encrypted(ImageFormat)
    /// A library failed, usually because it ran out of memory.
    case outOfMemory
}
