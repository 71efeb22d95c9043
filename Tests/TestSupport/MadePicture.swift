internal import Foundation

/// One of the images drawn by `Scripts/make-pictures`, as described in `Vectors/qr.json`.
public struct MadePicture: Codable, Sendable {
    /// The file's name in `Vectors/qr`.
    public let file: String
    /// The property that the image tests.
    public let kind: String
    /// The texts of its symbols.
    public let texts: [String]
    /// The entries that the texts encode.
    public let entries: [Entry]

    /// An entry, with its code for one time or counter.
    public struct Entry: Codable, Sendable {
        /// The issuer in the key URI.
        public let issuer: String
        /// The account in the key URI.
        public let account: String
        /// `totp`, `hotp` or `steam`.
        public let type: String
        /// `SHA1`, `SHA256` or `SHA512`.
        public let algorithm: String
        /// The length of the code in characters.
        public let digits: Int
        /// The key in Base32, without padding.
        public let secret: String
        /// The time step in seconds; `nil` for HOTP.
        public let period: Int64?
        /// The time of ``code`` in Unix seconds; `nil` for HOTP.
        public let time: Int64?
        /// The counter of ``code``; `nil` for TOTP.
        public let counter: UInt64?
        /// The code as computed by the script.
        public let code: String
    }

    /// The path of the image file.
    public var path: String { PackageFolder.root.appending(path: "Vectors/qr/\(file)").path }

    /// All images that `Vectors/qr.json` describes.
    public static func all() throws -> [MadePicture] {
        try VectorFile<MadePicture>("qr.json").cases
    }
}
