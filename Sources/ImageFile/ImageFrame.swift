public import Raster

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
