internal import Foundation

/// One of the pictures that `Scripts/make-pictures` drew, as `Vectors/qr.json` describes it.
public struct MadePicture: Codable, Sendable {
    /// The file's name in `Vectors/qr`.
    public let file: String
    /// What is special about it.
    public let kind: String
    /// The symbols' texts.
    public let texts: [String]
    /// The entries that the texts stand for.
    public let entries: [Entry]

    /// An entry, with its code at one time or count.
    public struct Entry: Codable, Sendable {
        /// Who asks for the code.
        public let issuer: String
        /// Whose code it is.
        public let account: String
        /// `totp`, `hotp` or `steam`.
        public let type: String
        /// `SHA1`, `SHA256` or `SHA512`.
        public let algorithm: String
        /// Characters of the code.
        public let digits: Int
        /// The key in Base32, without padding.
        public let secret: String
        /// Seconds of a time step, unless it counts.
        public let period: Int64?
        /// The time of ``code`` in Unix seconds, unless it counts.
        public let time: Int64?
        /// The counter of ``code``, if it counts.
        public let counter: UInt64?
        /// The code, as the script computed it.
        public let code: String
    }

    /// Where the picture lies.
    public var path: String { PackageFolder.root.appending(path: "Vectors/qr/\(file)").path }

    /// Every picture there is.
    public static func all() throws -> [MadePicture] {
        try VectorFile<MadePicture>("qr.json").cases
    }
}
