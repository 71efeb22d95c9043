import CPNG
internal import Pictures

/// Decodes one file with libpng's simplified interface.
///
/// libpng keeps the address of the `png_image` between calls, so the `png_image` is allocated on
/// the heap and never moves. libpng's long jumps stay inside the simplified interface.
@safe struct PNGDecoder: ~Copyable {
    private let image: UnsafeMutablePointer<png_image>

    /// The file's colour type, as libpng's format flags.
    let contents: UInt32

    /// Reads the header.
    ///
    /// - Parameter bytes: must stay valid as long as the decoder exists.
    init(reading bytes: UnsafeRawBufferPointer) throws(ImageFileError) {
        let control = UnsafeMutablePointer<png_image>.allocate(capacity: 1)
        unsafe control.initialize(to: png_image())
        unsafe control.pointee.version = UInt32(PNG_IMAGE_VERSION)
        guard
            unsafe png_image_begin_read_from_memory(control, bytes.baseAddress, bytes.count) != 0
        else {
            unsafe png_image_free(control)
            unsafe control.deallocate()
            throw .damaged(.png)
        }
        contents = unsafe control.pointee.format
        unsafe image = control
    }

    deinit {
        unsafe png_image_free(image)
        unsafe image.deallocate()
    }

    /// Decodes into `pixels`, which must hold the picture in `format`.
    ///
    /// Returns whether the picture was complete.
    ///
    /// Call this only once: libpng releases the file afterwards. Rows after the damage keep the
    /// content of `pixels`.
    func finish<Sample>(
        format: UInt32, into pixels: UnsafeMutableBufferPointer<Sample>
    ) -> Bool {
        // A stride of 0 means that rows are as long as the picture is wide.
        unsafe image.pointee.format = format
        return unsafe png_image_finish_read(image, nil, pixels.baseAddress, 0, nil) != 0
    }
}
