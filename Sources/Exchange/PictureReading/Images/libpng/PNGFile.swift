import CPNG
internal import Pictures
import QRDrawing

/// A PNG file of any bit depth and colour type.
struct PNGFile {
    /// Up to this many pixels are decoded in colour; libpng converts larger images to gray.
    private static let colourPixels = 16 << 20

    private static let alphaFlag = PNG_FORMAT_FLAG_ALPHA
    private static let colourFlag = PNG_FORMAT_FLAG_COLOR
    private static let wideFlag = PNG_FORMAT_FLAG_LINEAR

    let width: Int
    let height: Int
    let frameCount = 1
    private let bytes: [UInt8]

    init(_ bytes: [UInt8], limits: ImageLimits) throws(ImageFileError) {
        let header = try PNGHeader(bytes)
        try limits.check(width: header.width, height: header.height, of: .png)
        width = header.width
        height = header.height
        self.bytes = bytes
    }

    func frame(_ index: Int, longerSide: Int) throws(ImageFileError) -> ImageFrame {
        let contents = try contents()
        let alpha = contents & Self.alphaFlag
        if contents & Self.wideFlag != 0 {
            // Gray: colour images with 16 bits are rare, and their colours are not worth the
            // memory.
            let (words, isWhole) = try decode(
                Self.wideFlag | alpha, channels: alpha == 0 ? 1 : 2, fill: UInt16.max)
            let samples = WideSamples(
                width: width, height: height, hasAlpha: alpha != 0, words: words, isWhole: isWhole)
            return samples.frame()
        }
        let colour = width * height <= Self.colourPixels ? contents & Self.colourFlag : 0
        return try samples(colour | alpha).frame()
    }

    func colours(_ index: Int, longerSide: Int) throws(ImageFileError) -> ColourImage? {
        let contents = try contents()
        guard contents & Self.colourFlag != 0, width * height <= Self.colourPixels else {
            return nil
        }
        return try samples(contents & (Self.colourFlag | Self.alphaFlag)).colours()
    }

    private func contents() throws(ImageFileError) -> UInt32 {
        try unsafe bytes.span.withUnsafeBytes { raw throws(ImageFileError) in
            try unsafe PNGDecoder(reading: raw).contents
        }
    }

    private func samples(_ format: UInt32) throws(ImageFileError) -> Samples {
        let channels =
            (format & Self.colourFlag == 0 ? 1 : 3) + (format & Self.alphaFlag == 0 ? 0 : 1)
        let (bytes, isWhole) = try decode(format, channels: channels, fill: UInt8.max)
        return Samples(
            width: width, height: height, channels: channels, bytes: bytes, isWhole: isWhole)
    }

    private func decode<Sample: FixedWidthInteger>(
        _ format: UInt32, channels: Int, fill: Sample
    ) throws(ImageFileError) -> ([Sample], Bool) {
        var pixels = [Sample](repeating: fill, count: width * height * channels)
        let isWhole = try unsafe bytes.span.withUnsafeBytes { raw throws(ImageFileError) in
            let decoder = try unsafe PNGDecoder(reading: raw)
            return unsafe pixels.withUnsafeMutableBufferPointer {
                unsafe decoder.finish(format: format, into: $0)
            }
        }
        return (pixels, isWhole)
    }
}

/// The first chunk of a PNG file, which contains the image's size (PNG specification, 11.2.2).
///
/// It is parsed here, so that an oversized image is refused before libpng sees any of it.
struct PNGHeader {
    let width: Int
    let height: Int

    init(_ bytes: [UInt8]) throws(ImageFileError) {
        let start: [UInt8] = ImageKind.pngSignature + [0, 0, 0, 13] + Array("IHDR".utf8)
        guard bytes.count >= start.count + 8, bytes.starts(with: start) else {
            throw .damaged(.png)
        }
        width = Self.number(bytes, at: start.count)
        height = Self.number(bytes, at: start.count + 4)
    }

    private static func number(_ bytes: [UInt8], at index: Int) -> Int {
        bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}

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

    /// Decodes into `pixels`, which must hold the image in `format`.
    ///
    /// Returns whether the image was complete.
    ///
    /// Call this only once: libpng releases the file afterwards. Rows after the damage keep the
    /// content of `pixels`.
    func finish<Sample>(
        format: UInt32, into pixels: UnsafeMutableBufferPointer<Sample>
    ) -> Bool {
        // A stride of 0 means that rows are as long as the image is wide.
        unsafe image.pointee.format = format
        return unsafe png_image_finish_read(image, nil, pixels.baseAddress, 0, nil) != 0
    }
}
