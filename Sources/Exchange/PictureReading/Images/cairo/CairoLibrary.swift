internal import WatchwordSystem

/// The cairo functions that create a surface in memory to draw on.
@safe struct CairoLibrary: Sendable {
    typealias NewSurface = @convention(c) (Int32, Int32, Int32) -> OpaquePointer?
    typealias NewContext = @convention(c) (OpaquePointer?) -> OpaquePointer?
    typealias Call = @convention(c) (OpaquePointer?) -> Void
    typealias Number = @convention(c) (OpaquePointer?) -> Int32
    typealias Scale = @convention(c) (OpaquePointer?, Double, Double) -> Void
    typealias Pixels = @convention(c) (OpaquePointer?) -> UnsafePointer<UInt8>?

    /// `cairo_image_surface_create`.
    let newSurface: NewSurface
    /// `cairo_surface_destroy`.
    let destroySurface: Call
    /// `cairo_surface_flush`.
    let flush: Call
    /// `cairo_surface_status`.
    let surfaceStatus: Number
    /// `cairo_image_surface_get_data`.
    let pixels: Pixels
    /// `cairo_image_surface_get_stride`.
    let stride: Number
    /// `cairo_create`.
    let newContext: NewContext
    /// `cairo_destroy`.
    let destroyContext: Call
    /// `cairo_scale`.
    let scale: Scale
    /// `cairo_status`.
    let status: Number

    init?() {
        guard let library = SharedLibrary("libcairo.so.2"),
            let newSurface = unsafe library.function(
                "cairo_image_surface_create", as: NewSurface.self),
            let destroySurface = unsafe library.function("cairo_surface_destroy", as: Call.self),
            let flush = unsafe library.function("cairo_surface_flush", as: Call.self),
            let surfaceStatus = unsafe library.function("cairo_surface_status", as: Number.self),
            let pixels = unsafe library.function(
                "cairo_image_surface_get_data", as: Pixels.self),
            let stride = unsafe library.function(
                "cairo_image_surface_get_stride", as: Number.self),
            let newContext = unsafe library.function("cairo_create", as: NewContext.self),
            let destroyContext = unsafe library.function("cairo_destroy", as: Call.self),
            let scale = unsafe library.function("cairo_scale", as: Scale.self),
            let status = unsafe library.function("cairo_status", as: Number.self)
        else { return nil }
        unsafe self.newSurface = newSurface
        unsafe self.destroySurface = destroySurface
        unsafe self.flush = flush
        unsafe self.surfaceStatus = surfaceStatus
        unsafe self.pixels = pixels
        unsafe self.stride = stride
        unsafe self.newContext = newContext
        unsafe self.destroyContext = destroyContext
        unsafe self.scale = scale
        unsafe self.status = status
    }
}
