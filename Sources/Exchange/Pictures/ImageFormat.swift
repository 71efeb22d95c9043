internal import WatchwordSystem

/// The image formats that can be read.
public enum ImageFormat: String, Hashable, Sendable, CaseIterable {
    case png = "PNG"
    case jpeg = "JPEG"
    case webp = "WebP"
    case gif = "GIF"
    case tiff = "TIFF"
    case heic = "HEIC"
    case avif = "AVIF"
    case bmp = "BMP"
    case netpbm = "PNM"
    case svg = "SVG"
    case pdf = "PDF"
}

/// Image formats that are recognised but cannot be read.
///
/// They are named so that the user knows what to convert.
public enum UnsupportedImageFormat: String, Hashable, Sendable, CaseIterable {
    case jpegXL = "JPEG XL"
    case arbitraryMap = "PAM"
}

/// A library that is loaded when the first image in one of its formats is read.
///
/// PNG, JPEG and WebP need none of these: their libraries are linked.
public enum ImageLibrary: String, Hashable, Sendable, CaseIterable {
    case giflib
    case libtiff
    case libheif
    case gdkPixbuf = "gdk-pixbuf"
    case librsvg
    case poppler

    /// The library for the format that a file's first bytes indicate; `nil` if it needs none.
    public init?(for file: Span<UInt8>) {
        guard case .readable(let format) = ImageKind(of: file), let library = format.library else {
            return nil
        }
        self = library
    }

    /// The Debian package that contains the library, and installs all that it needs.
    public var package: String {
        switch self {
        case .giflib: "libgif7"
        case .libtiff: "libtiff6"
        case .libheif: "libheif1"
        case .gdkPixbuf: "libgdk-pixbuf-2.0-0"
        case .librsvg: "librsvg2-2"
        case .poppler: "libpoppler-glib8"
        }
    }
}

extension ImageFormat {
    /// The library that must be loaded to read this format; `nil` if it is linked.
    public var library: ImageLibrary? {
        switch self {
        case .png, .jpeg, .webp: nil
        case .gif: .giflib
        case .tiff: .libtiff
        case .heic, .avif: .libheif
        case .bmp, .netpbm: .gdkPixbuf
        case .svg: .librsvg
        case .pdf: .poppler
        }
    }
}

/// The format that the first bytes of a file indicate; its name is ignored.
///
/// Only fixed signatures are compared, so this is safe for untrusted files in any process.
public enum ImageKind: Hashable, Sendable {
    /// A format that can be read, if its library is installed.
    case readable(ImageFormat)
    /// A format that is only recognised.
    case unsupported(UnsupportedImageFormat)
    /// The content is not in a known image format.
    case unknown

    /// How many of a file's first bytes are examined.
    ///
    /// An SVG file can begin with comments and declarations, which are rarely longer.
    public static let beginningCount = 4096

    /// Examines the first bytes of a file, or all of it.
    public init(of file: Span<UInt8>) {
        let start = file.extracting(first: Self.beginningCount)
        if let format = Self.readable(start) {
            self = .readable(format)
        } else if let format = Self.unsupported(start) {
            self = .unsupported(format)
        } else {
            self = .unknown
        }
    }

    /// The first bytes of every PNG file (W3C PNG, 5.2).
    package static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func readable(_ start: Span<UInt8>) -> ImageFormat? {
        if start.holds(pngSignature) { return .png }
        if start.holds([0xFF, 0xD8, 0xFF]) { return .jpeg }
        if start.holds("RIFF", at: 0), start.holds("WEBP", at: 8) { return .webp }
        if start.holds("GIF87a", at: 0) || start.holds("GIF89a", at: 0) { return .gif }
        if start.holds([0x49, 0x49, 0x2A, 0]) || start.holds([0x4D, 0x4D, 0, 0x2A]) {
            return .tiff
        }
        // The four bytes are reserved.
        if start.holds("BM", at: 0), start.holds("\0\0\0\0", at: 6) { return .bmp }
        if start.holds("%PDF-", at: 0) { return .pdf }
        if start.holds("ftyp", at: 4) { return isoFormat(start) }
        if isNetpbm(start, versions: "1"..."6") { return .netpbm }
        return isSVG(start) ? .svg : nil
    }

    private static func unsupported(_ start: Span<UInt8>) -> UnsupportedImageFormat? {
        if start.holds([0xFF, 0x0A]) || start.holds("JXL ", at: 4) { return .jpegXL }
        return isNetpbm(start, versions: "7"..."7") ? .arbitraryMap : nil
    }

    /// The brand of an ISO base media file, such as AVIF and HEIC.
    private static func isoFormat(_ start: Span<UInt8>) -> ImageFormat? {
        if start.holds("avi", at: 8) { return .avif }
        let still = ["hei", "hev", "mif1", "msf1"]
        return still.contains { start.holds($0, at: 8) } ? .heic : nil
    }

    /// The letter P, a digit, white space, and a number, a comment, or (version 7) a word.
    private static func isNetpbm(
        _ start: Span<UInt8>, versions: ClosedRange<Unicode.Scalar>
    ) -> Bool {
        guard start.count > 3, start[0] == UInt8(ascii: "P"),
            versions.contains(Unicode.Scalar(start[1])), isBlank(start[2])
        else { return false }
        var index = 3
        while index < start.count, isBlank(start[index]) { index += 1 }
        guard index < start.count else { return false }
        if versions.contains("7") { return start.holds("WIDTH", at: index) }
        return start[index] == UInt8(ascii: "#") || (0x30...0x39).contains(start[index])
    }

    /// Whether the first element of an XML document is `svg`.
    private static func isSVG(_ start: Span<UInt8>) -> Bool {
        let byteOrderMark = "\u{FEFF}"
        var index = start.holds(byteOrderMark, at: 0) ? 3 : 0
        // The markup that can precede the element, including the remainder of a document type
        // declaration.
        let others = [("<?", "?>"), ("<!--", "-->"), ("<!", ">"), ("]", ">")]
        while true {
            while index < start.count, isBlank(start[index]) { index += 1 }
            guard let other = others.first(where: { start.holds($0.0, at: index) }) else { break }
            index += other.0.utf8.count
            while index < start.count, !start.holds(other.1, at: index) { index += 1 }
            guard index < start.count else { return false }
            index += other.1.utf8.count
        }
        guard start.holds("<svg", at: index), index + 4 < start.count else { return false }
        return isBlank(start[index + 4])
            || [">", "/", ":"].contains(Unicode.Scalar(start[index + 4]))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }
}

extension Span<UInt8> {
    fileprivate func holds(_ start: [UInt8]) -> Bool {
        count >= start.count && start.indices.allSatisfy { self[$0] == start[$0] }
    }
}

/// The limits beyond which an image is refused without being decoded.
///
/// All limits are compared with the header before memory is allocated for the image.
public struct ImageLimits: Hashable, Sendable {
    /// The size of the file in bytes.
    public let bytes: Int
    /// The number of pixels.
    public let pixels: Int
    /// The length of the longer side in pixels.
    public let side: Int
    /// The number of frames in an animation.
    public let frames: Int

    /// The default limits: 32 MiB, 64 megapixels, 20,000 pixels per side, 20 frames.
    public static let standard = ImageLimits(
        bytes: 32 << 20, pixels: 64 << 20, side: 20_000, frames: 20)

    /// Combines the limits without checking them.
    public init(bytes: Int, pixels: Int, side: Int, frames: Int) {
        self.bytes = bytes
        self.pixels = pixels
        self.side = side
        self.frames = frames
    }

    package func check(byteCount: Int) throws(ImageFileError) {
        guard byteCount <= bytes else {
            throw .tooLarge(.bytes, found: byteCount, allowed: bytes)
        }
    }

    /// - Parameter width: the width from the header; anything from 0 to 2^32.
    package func check(width: Int, height: Int, of format: ImageFormat) throws(ImageFileError) {
        guard width > 0, height > 0 else { throw .damaged(format) }
        let longer = max(width, height)
        guard longer <= side else { throw .tooLarge(.side, found: longer, allowed: side) }
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, area <= pixels else {
            throw .tooLarge(.pixels, found: overflow ? .max : area, allowed: pixels)
        }
    }

    package func check(frameCount: Int) throws(ImageFileError) {
        guard frameCount <= frames else {
            throw .tooLarge(.frames, found: frameCount, allowed: frames)
        }
    }
}

/// Why a file could not be read as an image.
public enum ImageFileError: Error, Hashable, Sendable {
    /// The content is not a known image format.
    case notAPicture
    /// An image format that is recognised but not supported.
    case unsupported(UnsupportedImageFormat)
    /// The library for this format is not loaded.
    case libraryMissing(ImageFormat)
    /// The file, or the size in its header, exceeds a limit.
    case tooLarge(PictureLimit, found: Int, allowed: Int)
    /// The header or the data after it is invalid.
    case damaged(ImageFormat)
    /// The file can be read only with a password.
    case encrypted(ImageFormat)
    /// A library failed, usually because it ran out of memory.
    case outOfMemory
}
