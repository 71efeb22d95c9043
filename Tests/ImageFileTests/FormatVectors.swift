import Foundation
import TestSupport
import Testing

/// A picture file in one format, and the pixels that it must decode to.
struct FormatVector: Codable, Sendable, CustomTestStringConvertible {
    let file: String
    let format: String
    let width: Int
    let height: Int
    let frames: Int
    /// Whether some pixels are not opaque.
    let alpha: Bool
    /// The brightness of the margin if the picture is drawn on white.
    let light: UInt8
    /// The brightness of a dark module if the picture is drawn on white.
    let dark: UInt8
    let texts: [String]

    var testDescription: String { file }

    static func all() throws -> [FormatVector] {
        try VectorFile<FormatVector>("pictures/formats.json").cases
    }

    func bytes() throws -> [UInt8] {
        let path = PackageFolder.root.appending(path: "Vectors/pictures/\(file)")
        return [UInt8](try Data(contentsOf: path))
    }
}
