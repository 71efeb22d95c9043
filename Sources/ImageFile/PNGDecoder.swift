import CPNG

/// One pass of libpng over one file, behind its simplified interface.
///
/// libpng keeps the address of the `png_image` between its calls, so it lives on the heap and never
/// moves. libpng's long jumps stay inside the simplified interface.
@safe struct PNGDecoder: ~Copyable {
    private let image: UnsafeMutablePointer<png_image>

    /// What the file has, as libpng's format flags.
    let contents: UInt32

    /// Reads what stands before the pixels.
    ///
    /// - Parameter bytes: Lent by the caller for as long as the decoder lives.
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

    /// Decodes into `pixels`, which must hold the picture in `format`; says whether it came whole.
    ///
    /// To be called once: libpng lets go of the file with it.
    /// Rows behind the damage keep what `pixels` held.
    func finish<Sample>(
        format: UInt32, into pixels: UnsafeMutableBufferPointer<Sample>
    ) -> Bool {
        // Rows are as long as the picture is wide: a stride of 0 says so.
        unsafe image.pointee.format = format
        return unsafe png_image_finish_read(image, nil, pixels.baseAddress, 0, nil) != 0
    }
}
