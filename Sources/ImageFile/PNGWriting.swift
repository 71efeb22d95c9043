import CPNG
public import Raster

/// Writes `image` as an opaque gray PNG.
///
/// The bytes are as secret as the picture is: a drawn symbol holds its text. They are an ordinary
/// array, because they are on their way into a file; the caller lets go of them after that.
///
/// - Throws: ``ImageFileError/outOfMemory(_:)`` when libpng could not get what it needs.
public func writePNG(_ image: GrayImage) throws(ImageFileError) -> [UInt8] {
    var control = unsafe png_image()
    unsafe control.version = UInt32(PNG_IMAGE_VERSION)
    unsafe control.width = UInt32(image.width)
    unsafe control.height = UInt32(image.height)
    unsafe control.format = UInt32(PNG_FORMAT_GRAY)
    defer { unsafe png_image_free(&control) }
    let stride = Int32(image.width)
    var size = 0
    guard unsafe png_image_write_to_memory(&control, nil, &size, 0, image.pixels, stride, nil) != 0
    else { throw .outOfMemory(.png) }
    var file = [UInt8](repeating: 0, count: size)
    guard
        unsafe png_image_write_to_memory(&control, &file, &size, 0, image.pixels, stride, nil) != 0
    else { throw .outOfMemory(.png) }
    return Array(file.prefix(size))
}
