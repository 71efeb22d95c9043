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

    /// What was drawn; `nil` if drawing failed.
    func samples() -> Samples? {
        unsafe library.flush(surface)
        guard unsafe library.surfaceStatus(surface) == 0,
            let pixels = unsafe library.pixels(surface)
        else { return nil }
        let rows = unsafe Samples(
            width: size.width, height: size.height, channels: 4, rows: pixels,
            stride: Int(library.stride(surface)), isWhole: true)
        return Samples(
            width: size.width, height: size.height, premultiplied: rows.bytes, order: .blueFirst,
            isWhole: true)
    }
}
