/// A picture as brightness alone: one byte a pixel, 0 black to 255 white, row by row from the top left.
public struct GrayImage: Hashable, Sendable {
    /// Pixels in a row, at least 1.
    public let width: Int
    /// Rows, at least 1.
    public let height: Int
    /// `width * height` brightness bytes without padding.
    public let pixels: [UInt8]

    /// Takes `pixels` as rows of `width` bytes each.
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
