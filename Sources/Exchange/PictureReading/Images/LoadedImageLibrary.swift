public import Pictures

/// A loaded library, and the functions of it that are called.
public struct LoadedImageLibrary: Sendable {
    enum Functions: Sendable {
        case gif(GIFLibrary)
        case tiff(TIFFLibrary)
        case heif(HEIFLibrary)
        case pixbuf(PixbufLibrary)
        case svg(RSVGLibrary)
        case pdf(PopplerLibrary)
    }

    let functions: Functions

    /// Whether the library draws what a file describes, so that a small file can take hours.
    public var isDrawing: Bool {
        switch functions {
        case .svg, .pdf: true
        case .gif, .tiff, .heif, .pixbuf: false
        }
    }

    /// Loads a library with everything that it reads from the file system; `nil` if it is not
    /// installed.
    ///
    /// A process calls this before it gives up access to the file system.
    public init?(_ library: ImageLibrary) {
        let loaded: Functions? =
            switch library {
            case .giflib: GIFLibrary().map { .gif($0) }
            case .libtiff: TIFFLibrary().map { .tiff($0) }
            case .libheif: HEIFLibrary().map { .heif($0) }
            case .gdkPixbuf: PixbufLibrary().map { .pixbuf($0) }
            case .librsvg: RSVGLibrary().map { .svg($0) }
            case .poppler: PopplerLibrary().map { .pdf($0) }
            }
        guard let loaded else { return nil }
        functions = loaded
    }
}
