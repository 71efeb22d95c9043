internal import WatchwordSystem

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
