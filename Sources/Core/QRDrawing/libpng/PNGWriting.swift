internal import CPNG
internal import WatchwordSystem

/// Encodes `image` as an opaque gray PNG.
///
/// The bytes are as secret as the image: a drawn symbol contains its text. They are an ordinary
/// array because they are about to be written to a file; the caller must release them after that.
///
/// - Throws: ``QRDrawingError/libraryMissing(_:)`` or ``QRDrawingError/noMemoryForPicture``.
public func writePNG(_ image: GrayImage) throws(QRDrawingError) -> [UInt8] {
    guard let library = PNGLibrary.loaded else { throw .libraryMissing(PNGLibrary.name) }
    var control = unsafe png_image()
    unsafe control.version = UInt32(PNG_IMAGE_VERSION)
    unsafe control.width = UInt32(image.width)
    unsafe control.height = UInt32(image.height)
    unsafe control.format = UInt32(PNG_FORMAT_GRAY)
    defer { unsafe library.free(&control) }
    let stride = Int32(image.width)
    var size = 0
    guard unsafe library.write(&control, nil, &size, 0, image.pixels, stride, nil) != 0
    else { throw .noMemoryForPicture }
    var file = [UInt8](repeating: 0, count: size)
    guard unsafe library.write(&control, &file, &size, 0, image.pixels, stride, nil) != 0
    else { throw .noMemoryForPicture }
    return Array(file.prefix(size))
}

/// The libpng functions for writing, loaded when the first image is written, because most
/// programs write none.
///
/// Programs that read images link libpng in the usual way.
@safe private struct PNGLibrary {
    typealias Write =
        @convention(c) (
            png_imagep?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?, Int32,
            UnsafeRawPointer?, Int32, UnsafeRawPointer?
        ) -> Int32
    typealias Free = @convention(c) (png_imagep?) -> Void

    static let name = "libpng16.so.16"

    /// `png_image_write_to_memory`.
    let write: Write
    /// `png_image_free`.
    let free: Free

    /// The library; `nil` if it is not installed.
    static let loaded = PNGLibrary()

    private init?() {
        guard let library = SharedLibrary(PNGLibrary.name),
            let write = unsafe library.function("png_image_write_to_memory", as: Write.self),
            let free = unsafe library.function("png_image_free", as: Free.self)
        else { return nil }
        unsafe self.write = write
        unsafe self.free = free
    }
}
