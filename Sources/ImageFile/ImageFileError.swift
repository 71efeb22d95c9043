/// Why a file did not become a picture.
public enum ImageFileError: Error, Hashable, Sendable {
    /// The first bytes are of no kind of picture that is known here.
    case notAPicture
    /// A picture of a kind that is known by name only.
    case unsupported(UnsupportedImageFormat)
    /// The file or what its header promises is over a limit.
    case tooLarge(ImageLimit, found: Int, allowed: Int)
    /// The header is there, but what follows is broken, or the header itself is.
    case damaged(ImageFormat)
    /// The library could not work, for want of memory.
    case outOfMemory(ImageFormat)
}

/// The limit that a picture was over.
public enum ImageLimit: String, Hashable, Sendable, CaseIterable {
    case bytes
    case pixels
    case side
    case frames
}
