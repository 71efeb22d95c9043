/// A colour picture: red, green and blue bytes of each pixel, row by row from the top left.
public struct ColourImage: Hashable, Sendable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// `width * height * 3` bytes without padding.
    public let samples: [UInt8]

    /// Creates a picture from rows of `width` red, green and blue triples.
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
