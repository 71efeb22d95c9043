internal import WatchwordSystem

/// A transparent surface on which a library draws a vector graphic.
@safe struct Canvas: ~Copyable {
    private let size: DrawnSize
    private let library: CairoLibrary
    private let surface: OpaquePointer
    /// The cairo context to draw with.
    let context: OpaquePointer

    /// - Returns: `nil` if there is not enough memory.
    init?(_ size: DrawnSize, library: CairoLibrary) {
        let premultipliedBlueFirst: Int32 = 0
        let surface = unsafe library.newSurface(
            premultipliedBlueFirst, Int32(size.width), Int32(size.height))
        let context = unsafe library.newContext(surface)
        // Neither call returns a null pointer; the status of both shows a failure.
        guard let surface = unsafe surface, let context = unsafe context,
            unsafe library.status(context) == 0
        else {
            unsafe library.destroyContext(context)
            unsafe library.destroySurface(surface)
            return nil
        }
        self.size = size
        self.library = library
        unsafe self.surface = surface
        unsafe self.context = context
    }

    deinit {
        unsafe library.destroyContext(context)
        unsafe library.destroySurface(surface)
    }

    /// The drawn image; `nil` if drawing failed.
    func samples() -> Samples? {
        unsafe library.flush(surface)
        guard unsafe library.surfaceStatus(surface) == 0,
            let pixels = unsafe library.pixels(surface)
        else { return nil }
        let rows = unsafe Samples(
            width: size.width, height: size.height, channels: 4, rows: pixels,
            stride: Int(library.stride(surface)))
        return Samples(
            width: size.width, height: size.height, premultiplied: rows.bytes, order: .blueFirst,
            isWhole: true)
    }
}

/// The size in pixels at which a vector graphic is drawn.
struct DrawnSize: Hashable {
    let width: Int
    let height: Int
    /// Pixels per unit of the image.
    let scale: Double

    /// The longer side is at least this long, so that the modules of a small symbol are large
    /// enough.
    private static let shortest = 1_000.0
    /// The longer side is at most this long: the largest size at which an image is read without
    /// reducing it.
    private static let longest = 2_400.0

    /// - Parameter resolution: the pixels per unit at which the image is drawn if it is neither
    ///   too small nor too large.
    /// - Returns: `nil` if a side is not a positive number.
    init?(width: Double, height: Double, resolution: Double) {
        let longer = max(width, height)
        guard width > 0, height > 0, longer.isFinite else { return nil }
        let side = min(max(longer * resolution, Self.shortest), Self.longest)
        let scale = side / longer
        guard scale.isFinite else { return nil }
        self.scale = scale
        self.width = max(Int((width * scale).rounded()), 1)
        self.height = max(Int((height * scale).rounded()), 1)
    }
}

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
