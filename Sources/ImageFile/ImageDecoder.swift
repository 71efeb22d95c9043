internal import Raster

/// The reader for one format, after it has read the header.
///
/// This is an enum, not a protocol: a conformance would link every reader and its library into
/// programs that only write pictures, and slow down their start.
enum ImageDecoder: Sendable {
    case png(PNGFile)
    case jpeg(JPEGFile)
    case webp(WebPFile)

    var width: Int {
        switch self {
        case .png(let file): file.width
        case .jpeg(let file): file.width
        case .webp(let file): file.width
        }
    }

    var height: Int {
        switch self {
        case .png(let file): file.height
        case .jpeg(let file): file.height
        case .webp(let file): file.height
        }
    }

    var frameCount: Int {
        switch self {
        case .png(let file): file.frameCount
        case .jpeg(let file): file.frameCount
        case .webp(let file): file.frameCount
        }
    }

    func frame(_ index: Int, longerSide: Int) throws(ImageFileError) -> ImageFrame {
        switch self {
        case .png(let file): try file.frame(index, longerSide: longerSide)
        case .jpeg(let file): try file.frame(index, longerSide: longerSide)
        case .webp(let file): try file.frame(index, longerSide: longerSide)
        }
    }

    func colours(_ index: Int, longerSide: Int) throws(ImageFileError) -> ColourImage? {
        switch self {
        case .png(let file): try file.colours(index, longerSide: longerSide)
        case .jpeg(let file): try file.colours(index, longerSide: longerSide)
        case .webp(let file): try file.colours(index, longerSide: longerSide)
        }
    }
}
