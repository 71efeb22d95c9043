internal import Pictures
internal import QRDrawing

/// The reader for one format, after it has read the header.
///
/// This is an enum, not a protocol: a conformance would link every reader and its library into
/// programs that only write pictures, and slow down their start.
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
