internal import Pictures
import QRDrawing

/// A TIFF file with one or more pages.
struct TIFFFile {
    let width: Int
    let height: Int
    /// The pages that can be decoded.
    private let pages: [(number: Int, width: Int, height: Int)]
    private let bytes: [UInt8]
    private let library: TIFFLibrary

    var frameCount: Int { pages.count }

    init(
        _ bytes: [UInt8], limits: ImageLimits, library: TIFFLibrary
    ) throws(ImageFileError) {
        let decoder = try TIFFDecoder(bytes, library: library)
        var pages: [(number: Int, width: Int, height: Int)] = []
        var number = 0
        while decoder.move(to: number) {
            try limits.check(frameCount: number + 1)
            if let (width, height) = decoder.size() {
                try limits.check(width: width, height: height, of: .tiff)
                pages.append((number, width, height))
            }
            number += 1
        }
        guard let first = pages.first else { throw .damaged(.tiff) }
        width = first.width
        height = first.height
        self.pages = pages
        self.bytes = bytes
        self.library = library
    }

    /// Decodes a page.
    func samples(_ index: Int) throws(ImageFileError) -> Samples {
        let (number, width, height) = pages[index]
        let decoder = try TIFFDecoder(bytes, library: library)
        var pixels = [UInt8](repeating: 255, count: width * height * 4)
        guard decoder.move(to: number),
            let isWhole = decoder.decode(into: &pixels, width: width, height: height)
        else { throw .damaged(.tiff) }
        return Samples(
            width: width, height: height, premultiplied: pixels, order: .redFirst, isWhole: isWhole)
    }
}
