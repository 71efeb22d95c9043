internal import Pictures
import QRDrawing
internal import WatchwordSystem

/// A PDF file; each page is a frame.
struct PDFFile {
    private let sizes: [DrawnSize]
    private let bytes: [UInt8]
    private let library: PopplerLibrary

    var width: Int { sizes[0].width }
    var height: Int { sizes[0].height }
    var frameCount: Int { sizes.count }

    init(
        _ bytes: [UInt8], limits: ImageLimits, library: PopplerLibrary
    ) throws(ImageFileError) {
        let document = try PDFDocument(bytes, library: library)
        let count = document.pageCount
        guard count > 0 else { throw .damaged(.pdf) }
        try limits.check(frameCount: count)
        var sizes: [DrawnSize] = []
        for page in 0..<count { sizes.append(try document.size(of: page)) }
        self.sizes = sizes
        self.bytes = bytes
        self.library = library
    }

    /// Draws the page with this index.
    func samples(_ index: Int) throws(ImageFileError) -> Samples {
        try PDFDocument(bytes, library: library).draw(index, sizes[index])
    }
}

/// A parsed PDF document.
@safe private struct PDFDocument: ~Copyable {
    private let library: PopplerLibrary
    private let document: OpaquePointer
    /// The document refers to these bytes.
    private let memory: UnsafeMutableRawBufferPointer
    private let lent: OpaquePointer

    /// Pixels per point: 200 per inch.
    private static let resolution = 200.0 / 72

    init(_ bytes: [UInt8], library: PopplerLibrary) throws(ImageFileError) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        unsafe memory.copyBytes(from: bytes)
        let lent = unsafe library.glib.newBytes(memory.baseAddress, memory.count)
        var error: OpaquePointer?
        let opened = unsafe library.new(lent, nil, &error)
        let isEncrypted = unsafe GLibLibrary.code(of: error) == PopplerLibrary.encrypted
        if let error = unsafe error { unsafe library.glib.releaseError(error) }
        guard let opened = unsafe opened, let lent = unsafe lent else {
            unsafe library.glib.releaseBytes(lent)
            unsafe memory.deallocate()
            throw isEncrypted ? .encrypted(.pdf) : .damaged(.pdf)
        }
        self.library = library
        unsafe document = opened
        unsafe self.memory = memory
        unsafe self.lent = lent
    }

    deinit {
        unsafe library.glib.releaseObject(document)
        unsafe library.glib.releaseBytes(lent)
        unsafe memory.deallocate()
    }

    var pageCount: Int { unsafe Int(library.pageCount(document)) }

    func size(of page: Int) throws(ImageFileError) -> DrawnSize {
        try unsafe with(page) { page throws(ImageFileError) in
            var width = 0.0
            var height = 0.0
            unsafe library.size(page, &width, &height)
            let size = DrawnSize(width: width, height: height, resolution: Self.resolution)
            guard let size else { throw .damaged(.pdf) }
            return size
        }
    }

    func draw(_ page: Int, _ size: DrawnSize) throws(ImageFileError) -> Samples {
        guard let canvas = Canvas(size, library: library.cairo) else { throw .outOfMemory }
        return try unsafe with(page) { page throws(ImageFileError) in
            unsafe library.cairo.scale(canvas.context, size.scale, size.scale)
            unsafe library.render(page, canvas.context)
            guard let samples = canvas.samples() else { throw .damaged(.pdf) }
            return samples.onPaper()
        }
    }

    private func with<Result>(
        _ index: Int, _ body: (OpaquePointer) throws(ImageFileError) -> Result
    ) throws(ImageFileError) -> Result {
        guard let page = unsafe library.page(document, Int32(index)) else { throw .damaged(.pdf) }
        defer { unsafe library.glib.releaseObject(page) }
        return try unsafe body(page)
    }
}

/// The poppler functions that draw the pages of a document.
@safe struct PopplerLibrary: Sendable {
    typealias New =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> OpaquePointer?
    typealias Number = @convention(c) (OpaquePointer?) -> Int32
    typealias GetPage = @convention(c) (OpaquePointer?, Int32) -> OpaquePointer?
    typealias Size =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<Double>?, UnsafeMutablePointer<Double>?
        )
        -> Void
    typealias Render = @convention(c) (OpaquePointer?, OpaquePointer?) -> Void

    /// The error of a document that needs a password, `POPPLER_ERROR_ENCRYPTED`.
    static let encrypted: Int32 = 1

    let glib: GLibLibrary
    let cairo: CairoLibrary
    /// `poppler_document_new_from_bytes`.
    let new: New
    /// `poppler_document_get_n_pages`.
    let pageCount: Number
    /// `poppler_document_get_page`.
    let page: GetPage
    /// `poppler_page_get_size`, in points: 72 per inch.
    let size: Size
    /// `poppler_page_render`.
    let render: Render

    init?() {
        guard let glib = GLibLibrary(), let cairo = CairoLibrary(),
            let library = SharedLibrary("libpoppler-glib.so.8"),
            let new = unsafe library.function("poppler_document_new_from_bytes", as: New.self),
            let pageCount = unsafe library.function(
                "poppler_document_get_n_pages", as: Number.self),
            let page = unsafe library.function("poppler_document_get_page", as: GetPage.self),
            let size = unsafe library.function("poppler_page_get_size", as: Size.self),
            let render = unsafe library.function("poppler_page_render", as: Render.self)
        else { return nil }
        self.glib = glib
        self.cairo = cairo
        unsafe self.new = new
        unsafe self.pageCount = pageCount
        unsafe self.page = page
        unsafe self.size = size
        unsafe self.render = render
    }
}
