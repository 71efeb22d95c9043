internal import Pictures
import QRDrawing
internal import WatchwordSystem

/// A BMP or PNM file.
struct PixbufFile {
    let frameCount = 1
    private let decoded: Samples

    var width: Int { decoded.width }
    var height: Int { decoded.height }

    init(
        _ bytes: [UInt8], format: ImageFormat, limits: ImageLimits, library: PixbufLibrary
    ) throws(ImageFileError) {
        guard let loader = PixbufLoader(format, limits: limits, library: library) else {
            throw .libraryMissing(format)
        }
        if format == .bmp, !PixbufFile.hasWholeHeader(bytes) { throw .damaged(format) }
        decoded = try loader.decode(bytes)
    }

    /// Whether a BMP file is long enough for the headers and the palette that it declares.
    ///
    /// The loader allocates that many bytes, up to 4 GiB, before it has read them.
    private static func hasWholeHeader(_ bytes: [UInt8]) -> Bool {
        let fileHeader = 14
        func number(at start: Int) -> Int {
            bytes.dropFirst(start).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let pixels = number(at: 10)
        let imageHeader = number(at: fileHeader)
        // Windows 3.0 and later; the palette of an older file has no stated length.
        let statesPalette = imageHeader >= 40
        let palette = statesPalette ? 4 * number(at: fileHeader + 32) : 0
        return max(pixels, fileHeader + imageHeader + palette) <= bytes.count
    }

    func samples(_ index: Int) throws(ImageFileError) -> Samples { decoded }
}

/// Decodes one BMP or PNM image with gdk-pixbuf.
@safe struct PixbufLoader: ~Copyable {
    private let library: PixbufLibrary
    private let format: ImageFormat
    private let loader: OpaquePointer
    private let progress: Progress

    /// The progress that the loader reports while it decodes.
    @safe private final class Progress {
        private let limits: ImageLimits
        private let format: ImageFormat
        private let setSize: PixbufLibrary.SetSize
        private(set) var refusal: ImageFileError?
        /// Whether each row has been decoded.
        private(set) var rows: [Bool] = []

        init(_ format: ImageFormat, _ limits: ImageLimits, _ library: PixbufLibrary) {
            self.format = format
            self.limits = limits
            unsafe setSize = library.setSize
        }

        static func with(_ data: UnsafeMutableRawPointer?) -> Progress? {
            guard let data = unsafe data else { return nil }
            return unsafe Unmanaged<Progress>.fromOpaque(data).takeUnretainedValue()
        }

        /// Checks the size from the header, before memory is allocated.
        func check(_ width: Int, _ height: Int, _ loader: OpaquePointer?) {
            do throws(ImageFileError) {
                try limits.check(width: width, height: height, of: format)
                // A loader can report the same size again.
                guard rows.count != height else { return }
                rows = Array(repeating: false, count: height)
            } catch {
                refusal = error
                // Tells the loader that the image is not needed.
                unsafe setSize(loader, 0, 0)
            }
        }

        func note(_ decoded: Range<Int>) {
            for row in decoded.clamped(to: rows.indices) { rows[row] = true }
        }
    }

    /// - Returns: `nil` if the type is not supported on this system.
    init?(_ format: ImageFormat, limits: ImageLimits, library: PixbufLibrary) {
        var error: OpaquePointer?
        let created = unsafe library.newLoader(format == .bmp ? "bmp" : "pnm", &error)
        unsafe Self.release(error, library)
        guard let created = unsafe created else { return nil }
        unsafe loader = created
        self.library = library
        self.format = format
        progress = Progress(format, limits, library)
        let data = unsafe Unmanaged.passUnretained(progress).toOpaque()
        let sizePrepared:
            @convention(c) (OpaquePointer?, Int32, Int32, UnsafeMutableRawPointer?) -> Void = {
                loader, width, height, data in
                unsafe Progress.with(data)?.check(Int(width), Int(height), loader)
            }
        let areaUpdated:
            @convention(c) (
                OpaquePointer?, Int32, Int32, Int32, Int32, UnsafeMutableRawPointer?
            ) -> Void = { _, _, top, _, height, data in
                guard top >= 0, height >= 0 else { return }
                unsafe Progress.with(data)?.note(Int(top)..<Int(top) + Int(height))
            }
        _ = unsafe library.glib.connect(
            loader, "size-prepared", unsafeBitCast(sizePrepared, to: UnsafeRawPointer.self), data,
            nil, 0)
        _ = unsafe library.glib.connect(
            loader, "area-updated", unsafeBitCast(areaUpdated, to: UnsafeRawPointer.self), data,
            nil, 0)
    }

    deinit {
        var error: OpaquePointer?
        // A loader must be closed before it is released; closing it again has no effect.
        _ = unsafe library.close(loader, &error)
        unsafe Self.release(error, library)
        unsafe library.glib.releaseObject(loader)
    }

    /// Decodes the file; called once.
    func decode(_ bytes: [UInt8]) throws(ImageFileError) -> Samples {
        var error: OpaquePointer?
        var isWhole = unsafe library.write(loader, bytes, bytes.count, &error) != 0
        unsafe Self.release(error, library)
        if let refusal = progress.refusal { throw refusal }
        var closingError: OpaquePointer?
        isWhole = unsafe library.close(loader, &closingError) != 0 && isWhole
        unsafe Self.release(closingError, library)
        guard let picture = unsafe library.picture(loader),
            let pixels = unsafe library.pixels(picture), progress.rows.contains(true)
        else { throw .damaged(format) }
        // The loaders do not report that a file is truncated.
        isWhole = isWhole && !progress.rows.contains(false)
        var samples = unsafe Samples(
            width: Int(library.width(picture)), height: Int(library.height(picture)),
            channels: Int(library.channels(picture)), rows: pixels,
            stride: Int(library.stride(picture)))
        samples.isWhole = isWhole
        return samples.whitened { !progress.rows[$0] }
    }

    private static func release(_ error: OpaquePointer?, _ library: PixbufLibrary) {
        if let error = unsafe error { unsafe library.glib.releaseError(error) }
    }
}

/// The gdk-pixbuf functions that decode an image of a known type.
@safe struct PixbufLibrary: Sendable {
    typealias NewLoader =
        @convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<OpaquePointer?>?) ->
        OpaquePointer?
    typealias Write =
        @convention(c) (
            OpaquePointer?, UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32
    typealias Close =
        @convention(c) (OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
    typealias SetSize = @convention(c) (OpaquePointer?, Int32, Int32) -> Void
    typealias GetObject = @convention(c) (OpaquePointer?) -> OpaquePointer?
    typealias Number = @convention(c) (OpaquePointer?) -> Int32
    typealias Pixels = @convention(c) (OpaquePointer?) -> UnsafePointer<UInt8>?

    let glib: GLibLibrary
    /// `gdk_pixbuf_loader_new_with_type`.
    let newLoader: NewLoader
    /// `gdk_pixbuf_loader_write`.
    let write: Write
    /// `gdk_pixbuf_loader_close`.
    let close: Close
    /// `gdk_pixbuf_loader_set_size`.
    let setSize: SetSize
    /// `gdk_pixbuf_loader_get_pixbuf`.
    let picture: GetObject
    /// `gdk_pixbuf_get_width`.
    let width: Number
    /// `gdk_pixbuf_get_height`.
    let height: Number
    /// `gdk_pixbuf_get_n_channels`: 3, or 4 with alpha; always 8 bits.
    let channels: Number
    /// `gdk_pixbuf_get_rowstride`.
    let stride: Number
    /// `gdk_pixbuf_read_pixels`.
    let pixels: Pixels

    init?() {
        guard let glib = GLibLibrary(), let library = SharedLibrary("libgdk_pixbuf-2.0.so.0"),
            let newLoader = unsafe library.function(
                "gdk_pixbuf_loader_new_with_type", as: NewLoader.self),
            let write = unsafe library.function("gdk_pixbuf_loader_write", as: Write.self),
            let close = unsafe library.function("gdk_pixbuf_loader_close", as: Close.self),
            let setSize = unsafe library.function("gdk_pixbuf_loader_set_size", as: SetSize.self),
            let picture = unsafe library.function(
                "gdk_pixbuf_loader_get_pixbuf", as: GetObject.self),
            let width = unsafe library.function("gdk_pixbuf_get_width", as: Number.self),
            let height = unsafe library.function("gdk_pixbuf_get_height", as: Number.self),
            let channels = unsafe library.function("gdk_pixbuf_get_n_channels", as: Number.self),
            let stride = unsafe library.function("gdk_pixbuf_get_rowstride", as: Number.self),
            let pixels = unsafe library.function("gdk_pixbuf_read_pixels", as: Pixels.self)
        else { return nil }
        self.glib = glib
        unsafe self.newLoader = newLoader
        unsafe self.write = write
        unsafe self.close = close
        unsafe self.setSize = setSize
        unsafe self.picture = picture
        unsafe self.width = width
        unsafe self.height = height
        unsafe self.channels = channels
        unsafe self.stride = stride
        unsafe self.pixels = pixels
        // gdk-pixbuf loads a further library for each type.
        for format in [ImageFormat.bmp, .netpbm] {
            guard PixbufLoader(format, limits: .standard, library: self) != nil else { return nil }
        }
    }
}
