import Foundation
import PictureReading
import Pictures
import TestSupport
import Testing

/// An image file in one format, and the pixels that it must decode to.
struct FormatVector: Codable, Sendable, CustomTestStringConvertible {
    let file: String
    let format: String
    let width: Int
    let height: Int
    let frames: Int
    /// Whether some pixels are not opaque.
    let alpha: Bool
    /// The brightness of the margin if the image is drawn on white.
    let light: UInt8
    /// The brightness of a dark module if the image is drawn on white.
    let dark: UInt8
    let texts: [String]

    var testDescription: String { file }

    static func all() throws -> [FormatVector] {
        try VectorFile<FormatVector>("pictures/formats.json").cases
    }

    /// The image's header, read with the library for its format.
    func image(
        _ bytes: [UInt8]? = nil, limits: ImageLimits = .standard
    ) throws -> EncodedImage {
        let bytes = try bytes ?? self.bytes()
        return try EncodedImage(bytes, limits: limits, library: library)
    }

    /// The library for the format; `nil` if it needs none.
    var library: LoadedImageLibrary? {
        ImageFormat(rawValue: format)?.library.flatMap { FormatVector.libraries[$0] }
    }

    /// The libraries that are installed.
    private static let libraries = Dictionary(
        uniqueKeysWithValues: ImageLibrary.allCases.compactMap { library in
            LoadedImageLibrary(library).map { (library, $0) }
        })

    static func named(_ file: String) throws -> FormatVector {
        try #require(try all().first { $0.file == file })
    }

    /// The centre of the first module of the margin, on the diagonal; the side has 33 modules.
    var margin: Int { width / 66 }
    /// The centre of the first module of the finder pattern.
    var finder: Int { width * 9 / 66 }

    func bytes() throws -> [UInt8] {
        let path = PackageFolder.root.appending(path: "Vectors/pictures/\(file)")
        return [UInt8](try Data(contentsOf: path))
    }
}
