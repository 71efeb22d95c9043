import Raster

/// A BMP or PNM file.
struct PixbufFile {
    let frameCount = 1
    private let decoded: Samples

    var width: Int { decoded.width }
    var height: Int { decoded.height }

    init(
        _ bytes: [UInt8], format: ImageFormat, limits: ImageLimits, library: PixbufLibrary
    ) throws(ImageFileError) {
        guard let loader = PixbufLoader(format, limits: limits, library: library) else {
            throw .libraryMissing(format)
        }
        decoded = try loader.decode(bytes)
    }

    func samples(_ index: Int) throws(ImageFileError) -> Samples { decoded }
}
