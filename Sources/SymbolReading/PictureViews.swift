public import Raster

/// A picture as the ladder asks for it: brightness at once, the rest only when it is needed.
public struct PictureViews {
    /// The brightness, transparent parts over white.
    let brightness: GrayImage
    /// How opaque each pixel is, if not all are.
    let alpha: GrayImage?
    /// The colours, if it has any.
    let colours: () -> ColourImage?
    /// The brightness in full size, if `brightness` is not.
    let fullSize: () -> GrayImage?

    /// Takes what is there and how to get the rest.
    ///
    /// - Parameters:
    ///   - brightness: Should have ``workingSide(width:height:)`` pixels on the longer side at least.
    ///   - alpha: How opaque each pixel of `brightness` is; `nil` when all are.
    ///   - colours: Asked once at most, when brightness alone did not do.
    ///   - fullSize: Asked once at most, as the last resort.
    public init(
        brightness: GrayImage, alpha: GrayImage? = nil,
        colours: @escaping () -> ColourImage? = { nil },
        fullSize: @escaping () -> GrayImage? = { nil }
    ) {
        self.brightness = brightness
        self.alpha = alpha
        self.colours = colours
        self.fullSize = fullSize
    }

    /// How many pixels the longer side should have for reading a picture of that size.
    ///
    /// Up to five megapixels, a tall screenshot, the picture is read as it is. A larger one is a
    /// photo: at 1,600 pixels it is as good to read and takes a fraction of the time.
    public static func workingSide(width: Int, height: Int) -> Int {
        let longer = max(width, height)
        return longer <= 2_400 || width * height <= 5_000_000 ? longer : min(longer, 1_600)
    }
}
