internal import Pictures
import QRDrawing

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
        if format == .bmp, !PixbufFile.hasWholeHeader(bytes) { throw .damaged(format) }
        decoded = try loader.decode(bytes)
    }

    /// Whether a BMP file is long enough for the headers and the palette that it declares.
    ///
    /// The loader allocates that many bytes, up to 4 GiB, before it has read them.
    private static func hasWholeHeader(_ bytes: [UInt8]) -> Bool {
        let fileHeader = 14
        func number(at start: Int) -> Int {
            bytes.dropFirst(start).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let pixels = number(at: 10)
        let imageHeader = number(at: fileHeader)
        // Windows 3.0 and later; the palette of an older file has no stated length.
        let statesPalette = imageHeader >= 40
        let palette = statesPalette ? 4 * number(at: fileHeader + 32) : 0
        return max(pixels, fileHeader + imageHeader + palette) <= bytes.count
    }

    func samples(_ index: Int) throws(ImageFileError) -> Samples { decoded }
}
