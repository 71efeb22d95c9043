import CTurboJPEG
import Raster

/// A JPEG file: baseline or progressive; gray, colour or CMYK.
///
/// The EXIF orientation is ignored: symbols can be read in every orientation.
struct JPEGFile {
    let width: Int
    let height: Int
    let frameCount = 1
    private let bytes: [UInt8]
    private let colourspace: TJCS

    init(_ bytes: [UInt8], limits: ImageLimits) throws(ImageFileError) {
        let header = try JPEGDecoder().header(of: bytes)
        try limits.check(width: header.width, height: header.height, of: .jpeg)
        width = header.width
        height = header.height
        colourspace = header.colourspace
        self.bytes = bytes
    }

    func frame(_ index: Int, longerSide: Int) throws(ImageFileError) -> ImageFrame {
        if colourspace == TJCS_CMYK || colourspace == TJCS_YCCK {
            return try inks(longerSide: longerSide).samples().frame()
        }
        return try decode(TJPF_GRAY, channels: 1, longerSide: longerSide).frame()
    }

    func colours(_ index: Int, longerSide: Int) throws(ImageFileError) -> ColourImage? {
        switch colourspace {
        case TJCS_GRAY: nil
        case TJCS_CMYK, TJCS_YCCK: try inks(longerSide: longerSide).samples().colours()
        default: try decode(TJPF_RGB, channels: 3, longerSide: longerSide).colours()
        }
    }

    private func inks(longerSide: Int) throws(ImageFileError) -> InkSamples {
        let decoded = try decode(TJPF_CMYK, channels: 4, longerSide: longerSide)
        return InkSamples(decoded, areInverted: JPEGMarkers(bytes).isFromAdobe)
    }

    private func decode(
        _ format: TJPF, channels: Int, longerSide: Int
    ) throws(ImageFileError) -> Samples {
        let decoder = try JPEGDecoder()
        let size = decoder.size(width, height, longerSide: longerSide)
        var pixels = [UInt8](repeating: 255, count: size.width * size.height * channels)
        let isWhole = try decoder.decode(bytes, as: format, size: size, into: &pixels)
        return Samples(
            width: size.width, height: size.height, channels: channels, bytes: pixels,
            isWhole: isWhole)
    }
}
