/// The brightness of an image: one byte per pixel, from 0 (black) to 255 (white), row by row from
/// the top left.
public struct GrayImage: Hashable, Sendable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// `width * height` brightness bytes without padding.
    public let pixels: [UInt8]

    /// Creates an image from rows of `width` bytes.
    ///
    /// - Precondition: `pixels.count == width * height`, and neither side is zero.
    public init(width: Int, height: Int, pixels: [UInt8]) {
        precondition(width > 0 && height > 0, "a picture has at least one pixel")
        precondition(pixels.count == width * height, "the pixels do not fill the picture")
        self.width = width
        self.height = height
        self.pixels = pixels
    }
}

/// A colour image: red, green and blue bytes of each pixel, row by row from the top left.
public struct ColourImage: Hashable, Sendable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// `width * height * 3` bytes without padding.
    public let samples: [UInt8]

    /// Creates an image from rows of `width` red, green and blue triples.
    ///
    /// - Precondition: `samples.count == width * height * 3`, and neither side is zero.
    public init(width: Int, height: Int, samples: [UInt8]) {
        precondition(width > 0 && height > 0, "a picture has at least one pixel")
        precondition(samples.count == width * height * 3, "the samples do not fill the picture")
        self.width = width
        self.height = height
        self.samples = samples
    }
}
