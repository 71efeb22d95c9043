public import Pictures
public import QRDrawing

/// A picture file whose header was read and is within the limits.
///
/// Decoding is a separate step, with the size and kind that the caller needs.
public struct EncodedImage: Sendable {
    /// The file format, detected from the content.
    public let format: ImageFormat
    /// The width in pixels, from the header.
    public let width: Int
    /// The height in pixels, from the header.
    public let height: Int
    /// The number of frames; 1 unless the picture is animated.
    public let frameCount: Int

    private let file: ImageDecoder

    /// Reads the header of `bytes`.
    ///
    /// - Parameter library: the library for the format, if it needs one that must be loaded.
    /// - Throws: ``ImageFileError``. No memory has been allocated for pixels at that point, except
    ///   for BMP and PNM pictures, which are decoded at once.
    public init(
        _ bytes: [UInt8], limits: ImageLimits = .standard, library: LoadedImageLibrary? = nil
    ) throws(ImageFileError) {
        try limits.check(byteCount: bytes.count)
        switch ImageKind(of: bytes.span) {
        case .readable(let known): format = known
        case .unsupported(let known): throw .unsupported(known)
        case .unknown: throw .notAPicture
        }
        let file = try ImageDecoder(bytes, format: format, limits: limits, library: library)
        self.file = file
        width = file.width
        height = file.height
        frameCount = file.frameCount
    }

    /// Decodes the brightness of a frame.
    ///
    /// - Parameters:
    ///   - index: less than ``frameCount``.
    ///   - longerSide: the minimum length of the result's longer side, unless the picture is
    ///     smaller. A larger picture may be reduced if that is cheaper; a WebP picture of more than
    ///     2^24 pixels is always reduced.
    /// - Throws: ``ImageFileError/damaged(_:)`` if no pixel can be decoded.
    public func frame(
        _ index: Int = 0, longerSide: Int = .max
    ) throws(ImageFileError) -> ImageFrame {
        precondition((0..<frameCount).contains(index), "there is no such frame")
        return try file.frame(index, longerSide: longerSide)
    }

    /// Decodes the colours of a frame, with transparent parts on white; `nil` for a gray picture,
    /// or for a PNG picture that is too large to decode in colour.
    ///
    /// - Parameters:
    ///   - index: less than ``frameCount``.
    ///   - longerSide: see ``frame(_:longerSide:)``.
    /// - Throws: ``ImageFileError/damaged(_:)`` if no pixel can be decoded.
    public func colours(
        _ index: Int = 0, longerSide: Int = .max
    ) throws(ImageFileError) -> ColourImage? {
        precondition((0..<frameCount).contains(index), "there is no such frame")
        return try file.colours(index, longerSide: longerSide)
    }
}

/// One decoded frame of a picture file: its brightness, and its alpha channel if it has one.
public struct ImageFrame: Hashable, Sendable {
    /// The brightness, with transparent parts on white.
    public let brightness: GrayImage
    /// The opacity of each pixel, 255 for opaque; `nil` if the picture has no transparent pixel.
    public let alpha: GrayImage?
    /// Whether the frame was complete.
    ///
    /// In a truncated or damaged file, the pixels before the damage are decoded and the rest is
    /// white or gray, so a symbol above the damage can still be read.
    public let isWhole: Bool

    /// Creates a frame from its parts.
    public init(brightness: GrayImage, alpha: GrayImage?, isWhole: Bool) {
        self.brightness = brightness
        self.alpha = alpha
        self.isWhole = isWhole
    }
}
