/// The picture formats that can be read.
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

/// Picture formats that are recognised but cannot be read.
///
/// They are named so that the user knows what to convert.
public enum UnsupportedImageFormat: String, Hashable, Sendable, CaseIterable {
    case jpegXL = "JPEG XL"
    case arbitraryMap = "PAM"
}
