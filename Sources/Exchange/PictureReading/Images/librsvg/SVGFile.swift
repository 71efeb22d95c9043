internal import Pictures
import QRDrawing
internal import WatchwordSystem

struct SVGFile {
    let frameCount = 1
    private let size: DrawnSize
    private let bytes: [UInt8]
    private let library: RSVGLibrary

    var width: Int { size.width }
    var height: Int { size.height }

    init(_ bytes: [UInt8], library: RSVGLibrary) throws(ImageFileError) {
        size = try SVGDocument(bytes, library: library).drawnSize()
        self.bytes = bytes
        self.library = library
    }

    func samples(_ index: Int) throws(ImageFileError) -> Samples {
        try SVGDocument(bytes, library: library).draw(size)
    }
}

/// A parsed SVG document.
@safe private struct SVGDocument: ~Copyable {
    private let library: RSVGLibrary
    private let handle: OpaquePointer

    init(_ bytes: [UInt8], library: RSVGLibrary) throws(ImageFileError) {
        var error: OpaquePointer?
        guard let handle = unsafe library.new(bytes, bytes.count, &error) else {
            if let error = unsafe error { unsafe library.glib.releaseError(error) }
            throw .damaged(.svg)
        }
        unsafe self.handle = handle
        self.library = library
    }

    deinit { unsafe library.glib.releaseObject(handle) }

    /// The document's own size, or a square if it has none.
    func drawnSize() throws(ImageFileError) -> DrawnSize {
        var width = 0.0
        var height = 0.0
        if unsafe library.size(handle, &width, &height) == 0 { (width, height) = (1, 1) }
        guard let size = DrawnSize(width: width, height: height, resolution: 1) else {
            throw .damaged(.svg)
        }
        return size
    }

    func draw(_ size: DrawnSize) throws(ImageFileError) -> Samples {
        guard let canvas = Canvas(size, library: library.cairo) else { throw .outOfMemory }
        var error: OpaquePointer?
        let area = [0, 0, Double(size.width), Double(size.height)]
        let isDrawn = unsafe library.render(handle, canvas.context, area, &error) != 0
        if let error = unsafe error { unsafe library.glib.releaseError(error) }
        guard isDrawn, let samples = canvas.samples() else { throw .damaged(.svg) }
        return samples
    }
}

/// The librsvg functions that draw a document.
@safe struct RSVGLibrary: Sendable {
    typealias New =
        @convention(c) (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<OpaquePointer?>?) ->
        OpaquePointer?
    typealias Size =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<Double>?, UnsafeMutablePointer<Double>?
        )
        -> Int32
    typealias Render =
        @convention(c) (
            OpaquePointer?, OpaquePointer?, UnsafePointer<Double>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32

    let glib: GLibLibrary
    let cairo: CairoLibrary
    /// `rsvg_handle_new_from_data`: without a base address, so no other file is read.
    let new: New
    /// `rsvg_handle_get_intrinsic_size_in_pixels`.
    let size: Size
    /// `rsvg_handle_render_document`: draws into a rectangle, which is given as its left and top
    /// sides, width and height.
    let render: Render

    init?() {
        guard let glib = GLibLibrary(), let cairo = CairoLibrary(),
            let library = SharedLibrary("librsvg-2.so.2"),
            let new = unsafe library.function("rsvg_handle_new_from_data", as: New.self),
            let size = unsafe library.function(
                "rsvg_handle_get_intrinsic_size_in_pixels", as: Size.self),
            let render = unsafe library.function("rsvg_handle_render_document", as: Render.self)
        else { return nil }
        self.glib = glib
        self.cairo = cairo
        unsafe self.new = new
        unsafe self.size = size
        unsafe self.render = render
    }
}
