public import Raster

/// One decoded frame of a picture file: its brightness, and its alpha channel where it has one.
public struct ImageFrame: Hashable, Sendable {
    /// The brightness, transparent parts laid over white.
    public let brightness: GrayImage
    /// How opaque each pixel is, 255 for opaque; `nil` when the picture has no transparent pixel.
    public let alpha: GrayImage?
    /// Whether the file held the frame to its end.
    ///
    /// Of a truncated or damaged file, the pixels up to the damage are there and the rest is white
    /// or gray: a symbol above the damage can be read.
    public let isWhole: Bool

    /// Takes the parts as they are.
    public init(brightness: GrayImage, alpha: GrayImage?, isWhole: Bool) {
        self.brightness = brightness
        self.alpha = alpha
        self.isWhole = isWhole
    }
}
