internal import Pictures
internal import WatchwordSystem

/// The gdk-pixbuf functions that decode a picture of a known type.
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
