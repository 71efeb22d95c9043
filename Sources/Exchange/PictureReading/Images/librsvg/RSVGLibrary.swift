internal import WatchwordSystem

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
