internal import Raster

/// One format's reader, once it has read the header.
///
/// An enum and no protocol, because a conformance would keep each reader, and the library behind it,
/// in programs that only write pictures, and cost their start.
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
