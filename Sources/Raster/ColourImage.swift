/// A picture in colour: red, green and blue bytes of each pixel, row by row from the top left.
public struct ColourImage: Hashable, Sendable {
    /// Pixels in a row, at least 1.
    public let width: Int
    /// Rows, at least 1.
    public let height: Int
    /// `width * height * 3` bytes without padding.
    public let samples: [UInt8]

    /// Takes `samples` as rows of `width` red, green and blue triples each.
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
