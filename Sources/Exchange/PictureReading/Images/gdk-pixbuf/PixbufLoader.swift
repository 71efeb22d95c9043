internal import Pictures

/// Decodes one BMP or PNM picture with gdk-pixbuf.
@safe struct PixbufLoader: ~Copyable {
    private let library: PixbufLibrary
    private let format: ImageFormat
    private let loader: OpaquePointer
    private let progress: Progress

    /// What the loader reports while it decodes.
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
                // Tells the loader that the picture is not needed.
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
        return unsafe Samples(
            width: Int(library.width(picture)), height: Int(library.height(picture)),
            channels: Int(library.channels(picture)), rows: pixels,
            stride: Int(library.stride(picture)), isWhole: isWhole
        ).whitened { !progress.rows[$0] }
    }

    private static func release(_ error: OpaquePointer?, _ library: PixbufLibrary) {
        if let error = unsafe error { unsafe library.glib.releaseError(error) }
    }
}
