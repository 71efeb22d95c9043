public import QRDrawing

/// A picture for the reader: its brightness, and other views that are computed when needed.
public struct PictureViews {
    /// The brightness, with transparent parts on white.
    let brightness: GrayImage
    /// The opacity of each pixel, unless all are opaque.
    let alpha: GrayImage?
    /// The colours, if the picture has any.
    let colours: () -> ColourImage?
    /// The brightness at full size, if `brightness` is smaller.
    let fullSize: () -> GrayImage?

    /// Creates the views of a picture.
    ///
    /// - Parameters:
    ///   - brightness: should have at least ``workingSide(width:height:)`` pixels on the longer
    ///     side.
    ///   - alpha: the opacity of each pixel of `brightness`; `nil` if all are opaque.
    ///   - colours: called at most once, if the brightness is not enough.
    ///   - fullSize: called at most once, as a last resort.
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

    /// The length of the longer side at which a picture of that size should be read.
    ///
    /// A picture with sides of at most 2,400 pixels, or with at most five megapixels (a tall
    /// screenshot), is read at its own size. A larger one is a photo, which can be read equally
    /// well at 1,600 pixels in a fraction of the time.
    public static func workingSide(width: Int, height: Int) -> Int {
        let longer = max(width, height)
        return longer <= 2_400 || width * height <= 5_000_000 ? longer : min(longer, 1_600)
    }
}
