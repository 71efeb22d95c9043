/// The picture formats that can be read.
public enum ImageFormat: String, Hashable, Sendable, CaseIterable {
    case png = "PNG"
    case jpeg = "JPEG"
    case webp = "WebP"
}

/// Picture formats that are recognised but cannot be read.
///
/// They are named so that the user knows what to convert.
public enum UnsupportedImageFormat: String, Hashable, Sendable, CaseIterable {
    case gif = "GIF"
    case bmp = "BMP"
    case tiff = "TIFF"
    case heic = "HEIC"
    case avif = "AVIF"
    case jpegXL = "JPEG XL"
    case netpbm = "PNM"
    case pdf = "PDF"
    case svg = "SVG"
}

/// The format that the first bytes of a file indicate; its name is ignored.
enum ImageKind: Hashable {
    case readable(ImageFormat)
    case unsupported(UnsupportedImageFormat)
    case unknown

    init(of bytes: [UInt8]) {
        let start = bytes.prefix(64)
        if let format = Self.readable(start) {
            self = .readable(format)
        } else if let format = Self.unsupported(start, bytes) {
            self = .unsupported(format)
        } else {
            self = .unknown
        }
    }

    private static func readable(_ start: ArraySlice<UInt8>) -> ImageFormat? {
        if start.starts(with: PNGHeader.signature) { return .png }
        if start.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if start.starts(with: "RIFF".utf8), start.dropFirst(8).starts(with: "WEBP".utf8) {
            return .webp
        }
        return nil
    }

    private static func unsupported(
        _ start: ArraySlice<UInt8>, _ bytes: [UInt8]
    ) -> UnsupportedImageFormat? {
        if start.starts(with: "GIF87a".utf8) || start.starts(with: "GIF89a".utf8) { return .gif }
        if start.starts(with: "BM".utf8), start.dropFirst(6).starts(with: [0, 0, 0, 0]) {
            return .bmp
        }
        if start.starts(with: [0x49, 0x49, 0x2A, 0]) || start.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
            return .tiff
        }
        if start.starts(with: "%PDF-".utf8) { return .pdf }
        if start.starts(with: [0xFF, 0x0A]) || start.dropFirst(4).starts(with: "JXL ".utf8) {
            return .jpegXL
        }
        if start.dropFirst(4).starts(with: "ftyp".utf8) { return isoFormat(start.dropFirst(8)) }
        if isNetpbm(start) { return .netpbm }
        if isSVG(bytes) { return .svg }
        return nil
    }

    /// The brand of an ISO base media file, such as AVIF and HEIC.
    private static func isoFormat(_ brand: ArraySlice<UInt8>) -> UnsupportedImageFormat? {
        if brand.starts(with: "avi".utf8) { return .avif }
        let still = ["hei", "hev", "mif1", "msf1"]
        return still.contains { brand.starts(with: $0.utf8) } ? .heic : nil
    }

    private static func isNetpbm(_ start: ArraySlice<UInt8>) -> Bool {
        guard start.count > 2, start[0] == UInt8(ascii: "P") else { return false }
        let isBlank = [0x20, 0x0A, 0x0D, 0x09].contains(start[2])
        return isBlank && (UInt8(ascii: "1")...UInt8(ascii: "7")).contains(start[1])
    }

    /// SVG is text: look for the tag after any declaration or comment.
    private static func isSVG(_ bytes: [UInt8]) -> Bool {
        let tag = Array("<svg".utf8)
        let head = bytes.prefix(1024)
        guard let first = head.firstIndex(where: { $0 > 0x20 }), head[first] == tag[0] else {
            return false
        }
        return head.indices.contains { head[$0...].starts(with: tag) }
    }
}
