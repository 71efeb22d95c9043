import CHEIF
internal import Pictures
import QRDrawing

/// A HEIC or AVIF file with one or more pictures.
struct HEIFFile {
    let width: Int
    let height: Int
    private let format: ImageFormat
    private let pictures: [heif_item_id]
    private let bytes: [UInt8]
    private let limits: ImageLimits
    private let library: HEIFLibrary

    var frameCount: Int { pictures.count }

    init(
        _ bytes: [UInt8], format: ImageFormat, limits: ImageLimits, library: HEIFLibrary
    ) throws(ImageFileError) {
        self.bytes = bytes
        self.format = format
        self.limits = limits
        self.library = library
        typealias Found = (pictures: [heif_item_id], width: Int, height: Int)
        let found = try Self.open(bytes, format, library) {
            decoder throws(ImageFileError) -> Found in
            let pictures = decoder.pictures()
            try limits.check(frameCount: pictures.count)
            guard let first = pictures.first else { throw .damaged(format) }
            for picture in pictures {
                let size = try decoder.size(of: picture)
                try limits.check(width: size.width, height: size.height, of: format)
            }
            let size = try decoder.size(of: first)
            return (pictures, size.width, size.height)
        }
        pictures = found.pictures
        width = found.width
        height = found.height
    }

    /// Decodes a picture.
    func samples(_ index: Int) throws(ImageFileError) -> Samples {
        try Self.open(bytes, format, library) { decoder throws(ImageFileError) in
            try decoder.decode(pictures[index], limits: limits)
        }
    }

    private static func open<Value>(
        _ bytes: [UInt8], _ format: ImageFormat, _ library: HEIFLibrary,
        _ body: (borrowing HEIFDecoder) throws(ImageFileError) -> Value
    ) throws(ImageFileError) -> Value {
        try unsafe bytes.span.withUnsafeBytes { raw throws(ImageFileError) in
            try body(try unsafe HEIFDecoder(reading: raw, format: format, library: library))
        }
    }
}
