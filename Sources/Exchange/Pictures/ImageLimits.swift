/// The limits beyond which a picture is refused without being decoded.
///
/// All limits are compared with the header before memory is allocated for the picture.
public struct ImageLimits: Hashable, Sendable {
    /// The size of the file in bytes.
    public let bytes: Int
    /// The number of pixels.
    public let pixels: Int
    /// The length of the longer side in pixels.
    public let side: Int
    /// The number of frames in an animation.
    public let frames: Int

    /// The default limits: 32 MiB, 64 megapixels, 20,000 pixels per side, 20 frames.
    public static let standard = ImageLimits(
        bytes: 32 << 20, pixels: 64 << 20, side: 20_000, frames: 20)

    /// Creates limits without checking them.
    public init(bytes: Int, pixels: Int, side: Int, frames: Int) {
        self.bytes = bytes
        self.pixels = pixels
        self.side = side
        self.frames = frames
    }

    package func check(byteCount: Int) throws(ImageFileError) {
        guard byteCount <= bytes else {
            throw .tooLarge(.bytes, found: byteCount, allowed: bytes)
        }
    }

    /// - Parameter width: the width from the header; anything from 0 to 2^32.
    package func check(width: Int, height: Int, of format: ImageFormat) throws(ImageFileError) {
        guard width > 0, height > 0 else { throw .damaged(format) }
        let longer = max(width, height)
        guard longer <= side else { throw .tooLarge(.side, found: longer, allowed: side) }
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, area <= pixels else {
            throw .tooLarge(.pixels, found: overflow ? .max : area, allowed: pixels)
        }
    }

    package func check(frameCount: Int) throws(ImageFileError) {
        guard frameCount <= frames else {
            throw .tooLarge(.frames, found: frameCount, allowed: frames)
        }
    }
}

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
