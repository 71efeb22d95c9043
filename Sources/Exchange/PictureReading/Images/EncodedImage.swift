public import Pictures
public import QRDrawing

/// An image file whose header was read and is within the limits.
///
/// Decoding is a separate step, with the size and kind that the caller needs.
public struct EncodedImage: Sendable {
    /// The file format, detected from the content.
    public let format: ImageFormat
    /// The width in pixels, from the header.
    public let width: Int
    /// The height in pixels, from the header.
    public let height: Int
    /// The number of frames; 1 unless the image is animated.
    public let frameCount: Int

    private let file: ImageDecoder

    /// Reads the header of `bytes`.
    ///
    /// - Parameter library: the library for the format, if it needs one that must be loaded.
    /// - Throws: ``ImageFileError``. No memory has been allocated for pixels at that point, except
    ///   for BMP and PNM images, which are decoded at once.
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
    ///   - longerSide: the minimum length of the result's longer side, unless the image is
    ///     smaller. A larger image may be reduced if that is cheaper; a WebP image of more than
    ///     2^24 pixels is always reduced.
    /// - Throws: ``ImageFileError/damaged(_:)`` if no pixel can be decoded.
    public func frame(
        _ index: Int = 0, longerSide: Int = .max
    ) throws(ImageFileError) -> ImageFrame {
        precondition((0..<frameCount).contains(index), "there is no such frame")
        return try file.frame(index, longerSide: longerSide)
    }

    /// Decodes the colours of a frame, with transparent parts on white; `nil` for a gray image,
    /// or for a PNG image that is too large to decode in colour.
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

/// One decoded frame of an image file: its brightness, and its alpha channel if it has one.
public struct ImageFrame: Hashable, Sendable {
    /// The brightness, with transparent parts on white.
    public let brightness: GrayImage
    /// The opacity of each pixel, 255 for opaque; `nil` if the image has no transparent pixel.
    public let alpha: GrayImage?
    /// Whether the frame was complete.
    ///
    /// In a truncated or damaged file, the pixels before the damage are decoded and the rest is
    /// white or gray, so a symbol above the damage can still be read.
    public let isWhole: Bool

    /// Combines the parts of a decoded frame.
    public init(brightness: GrayImage, alpha: GrayImage?, isWhole: Bool) {
        self.brightness = brightness
        self.alpha = alpha
        self.isWhole = isWhole
    }
}

/// The reader for one format, after it has read the header.
///
/// This is an enum, not a protocol: a conformance would link every reader and its library into
/// programs that only write images, and slow down their start.
enum ImageDecoder: Sendable {
    case png(PNGFile)
    case jpeg(JPEGFile)
    case webp(WebPFile)
    case gif(GIFFile)
    case tiff(TIFFFile)
    case heif(HEIFFile)
    case pixbuf(PixbufFile)
    case svg(SVGFile)
    case pdf(PDFFile)

    init(
        _ bytes: [UInt8], format: ImageFormat, limits: ImageLimits, library: LoadedImageLibrary?
    ) throws(ImageFileError) {
        switch (format, library?.functions) {
        case (.png, _): self = .png(try PNGFile(bytes, limits: limits))
        case (.jpeg, _): self = .jpeg(try JPEGFile(bytes, limits: limits))
        case (.webp, _): self = .webp(try WebPFile(bytes, limits: limits))
        case (.gif, .gif(let library)):
            self = .gif(try GIFFile(bytes, limits: limits, library: library))
        case (.tiff, .tiff(let library)):
            self = .tiff(try TIFFFile(bytes, limits: limits, library: library))
        case (.heic, .heif(let library)), (.avif, .heif(let library)):
            self = .heif(try HEIFFile(bytes, format: format, limits: limits, library: library))
        case (.bmp, .pixbuf(let library)), (.netpbm, .pixbuf(let library)):
            self = .pixbuf(try PixbufFile(bytes, format: format, limits: limits, library: library))
        case (.svg, .svg(let library)):
            self = .svg(try SVGFile(bytes, library: library))
        case (.pdf, .pdf(let library)):
            self = .pdf(try PDFFile(bytes, limits: limits, library: library))
        default: throw .libraryMissing(format)
        }
    }

    var width: Int {
        switch self {
        case .png(let file): file.width
        case .jpeg(let file): file.width
        case .webp(let file): file.width
        case .gif(let file): file.width
        case .tiff(let file): file.width
        case .heif(let file): file.width
        case .pixbuf(let file): file.width
        case .svg(let file): file.width
        case .pdf(let file): file.width
        }
    }

    var height: Int {
        switch self {
        case .png(let file): file.height
        case .jpeg(let file): file.height
        case .webp(let file): file.height
        case .gif(let file): file.height
        case .tiff(let file): file.height
        case .heif(let file): file.height
        case .pixbuf(let file): file.height
        case .svg(let file): file.height
        case .pdf(let file): file.height
        }
    }

    var frameCount: Int {
        switch self {
        case .png(let file): file.frameCount
        case .jpeg(let file): file.frameCount
        case .webp(let file): file.frameCount
        case .gif(let file): file.frameCount
        case .tiff(let file): file.frameCount
        case .heif(let file): file.frameCount
        case .pixbuf(let file): file.frameCount
        case .svg(let file): file.frameCount
        case .pdf(let file): file.frameCount
        }
    }

    func frame(_ index: Int, longerSide: Int) throws(ImageFileError) -> ImageFrame {
        switch self {
        case .png(let file): try file.frame(index, longerSide: longerSide)
        case .jpeg(let file): try file.frame(index, longerSide: longerSide)
        case .webp(let file): try file.frame(index, longerSide: longerSide)
        case .gif(let file): try file.samples(index).frame()
        case .tiff(let file): try file.samples(index).frame()
        case .heif(let file): try file.samples(index).frame()
        case .pixbuf(let file): try file.samples(index).frame()
        case .svg(let file): try file.samples(index).frame()
        case .pdf(let file): try file.samples(index).frame()
        }
    }

    func colours(_ index: Int, longerSide: Int) throws(ImageFileError) -> ColourImage? {
        switch self {
        case .png(let file): try file.colours(index, longerSide: longerSide)
        case .jpeg(let file): try file.colours(index, longerSide: longerSide)
        case .webp(let file): try file.colours(index, longerSide: longerSide)
        case .gif(let file): try file.samples(index).colours()
        case .tiff(let file): try file.samples(index).colours()
        case .heif(let file): try file.samples(index).colours()
        case .pixbuf(let file): try file.samples(index).colours()
        case .svg(let file): try file.samples(index).colours()
        case .pdf(let file): try file.samples(index).colours()
        }
    }
}

/// A loaded library, and those of its functions that are called.
public struct LoadedImageLibrary: Sendable {
    enum Functions: Sendable {
        case gif(GIFLibrary)
        case tiff(TIFFLibrary)
        case heif(HEIFLibrary)
        case pixbuf(PixbufLibrary)
        case svg(RSVGLibrary)
        case pdf(PopplerLibrary)
    }

    let functions: Functions

    /// Whether the library draws what a file describes, so that a small file can take hours.
    public var isDrawing: Bool {
        switch functions {
        case .svg, .pdf: true
        case .gif, .tiff, .heif, .pixbuf: false
        }
    }

    /// Loads a library with everything that it reads from the file system; `nil` if it is not
    /// installed.
    ///
    /// A process calls this before it gives up access to the file system.
    public init?(_ library: ImageLibrary) {
        let loaded: Functions? =
            switch library {
            case .giflib: GIFLibrary().map { .gif($0) }
            case .libtiff: TIFFLibrary().map { .tiff($0) }
            case .libheif: HEIFLibrary().map { .heif($0) }
            case .gdkPixbuf: PixbufLibrary().map { .pixbuf($0) }
            case .librsvg: RSVGLibrary().map { .svg($0) }
            case .poppler: PopplerLibrary().map { .pdf($0) }
            }
        guard let loaded else { return nil }
        functions = loaded
    }
}
