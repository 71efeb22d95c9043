/// A library that is loaded when the first picture in one of its formats is read.
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
