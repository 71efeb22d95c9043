import CTurboJPEG
internal import Pictures

/// Owns a libjpeg-turbo decompressor.
@safe struct JPEGDecoder: ~Copyable {
    private let handle: tjhandle

    init() throws(ImageFileError) {
        guard let handle = unsafe tjInitDecompress() else { throw .outOfMemory }
        unsafe self.handle = handle
    }

    deinit { unsafe tjDestroy(handle) }

    /// The header's width, height and colour space.
    func header(
        of bytes: [UInt8]
    ) throws(ImageFileError) -> (width: Int, height: Int, colourspace: TJCS) {
        var width: Int32 = 0
        var height: Int32 = 0
        var subsampling: Int32 = 0
        var colourspace: Int32 = 0
        let code = unsafe tjDecompressHeader3(
            handle, bytes, UInt(bytes.count), &width, &height, &subsampling, &colourspace)
        guard code == 0 || isRecoverable, colourspace >= 0 else { throw .damaged(.jpeg) }
        return (Int(width), Int(height), TJCS(rawValue: UInt32(colourspace)))
    }

    /// The smallest size the decoder can produce whose longer side is at least `longerSide`.
    func size(_ width: Int, _ height: Int, longerSide: Int) -> (width: Int, height: Int) {
        // libjpeg-turbo rounds a scaled side up.
        for denominator in [8, 4, 2] where max(width, height) / denominator >= longerSide {
            let round = denominator - 1
            return ((width + round) / denominator, (height + round) / denominator)
        }
        return (width, height)
    }

    /// Decodes into `pixels`, which must have room for a picture of `size` in `format`.
    ///
    /// Returns whether the picture was complete.
    func decode(
        _ bytes: [UInt8], as format: TJPF, size: (width: Int, height: Int),
        into pixels: inout [UInt8]
    ) throws(ImageFileError) -> Bool {
        // A progressive file can repeat its scans without end: 500 are plenty. Never use the fast
        // transform: its arithmetic overflows on blocks of pure black and white, of which QR
        // symbols consist.
        let flags = TJFLAG_LIMITSCANS
        let code = unsafe tjDecompress2(
            handle, bytes, UInt(bytes.count), &pixels, Int32(size.width), 0, Int32(size.height),
            Int32(format.rawValue), flags)
        if code == 0 { return true }
        guard isRecoverable else { throw .damaged(.jpeg) }
        return false
    }

    /// Whether the last call continued despite an error, such as a truncated file.
    private var isRecoverable: Bool {
        unsafe tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue)
    }
}
