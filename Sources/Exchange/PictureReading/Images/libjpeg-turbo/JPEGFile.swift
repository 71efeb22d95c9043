import CTurboJPEG
internal import Pictures
import QRDrawing

/// A JPEG file: baseline or progressive; gray, colour or CMYK.
///
/// The EXIF orientation is ignored: symbols can be read in every orientation.
struct JPEGFile {
    let width: Int
    let height: Int
    let frameCount = 1
    private let bytes: [UInt8]
    private let colourspace: TJCS

    init(_ bytes: [UInt8], limits: ImageLimits) throws(ImageFileError) {
        let header = try JPEGDecoder().header(of: bytes)
        try limits.check(width: header.width, height: header.height, of: .jpeg)
        width = header.width
        height = header.height
        colourspace = header.colourspace
        self.bytes = bytes
    }

    func frame(_ index: Int, longerSide: Int) throws(ImageFileError) -> ImageFrame {
        if colourspace == TJCS_CMYK || colourspace == TJCS_YCCK {
            return try inks(longerSide: longerSide).samples().frame()
        }
        return try decode(TJPF_GRAY, channels: 1, longerSide: longerSide).frame()
    }

    func colours(_ index: Int, longerSide: Int) throws(ImageFileError) -> ColourImage? {
        switch colourspace {
        case TJCS_GRAY: nil
        case TJCS_CMYK, TJCS_YCCK: try inks(longerSide: longerSide).samples().colours()
        default: try decode(TJPF_RGB, channels: 3, longerSide: longerSide).colours()
        }
    }

    private func inks(longerSide: Int) throws(ImageFileError) -> InkSamples {
        let decoded = try decode(TJPF_CMYK, channels: 4, longerSide: longerSide)
        return InkSamples(decoded, areInverted: JPEGMarkers(bytes).isFromAdobe)
    }

    private func decode(
        _ format: TJPF, channels: Int, longerSide: Int
    ) throws(ImageFileError) -> Samples {
        let decoder = try JPEGDecoder()
        let size = decoder.size(width, height, longerSide: longerSide)
        var pixels = [UInt8](repeating: 255, count: size.width * size.height * channels)
        let isWhole = try decoder.decode(bytes, as: format, size: size, into: &pixels)
        return Samples(
            width: size.width, height: size.height, channels: channels, bytes: pixels,
            isWhole: isWhole)
    }
}

/// The marker segments before a JPEG file's first scan (ITU-T T.81, annex B).
struct JPEGMarkers {
    /// Whether the file was written by Adobe software (marker APP14), which inverts ink values.
    let isFromAdobe: Bool

    init(_ bytes: [UInt8]) {
        let name = Array("Adobe".utf8)
        var index = 2
        while index + 4 <= bytes.count, bytes[index] == 0xFF {
            let marker = bytes[index + 1]
            if marker == 0xFF {  // Fill byte.
                index += 1
                continue
            }
            let length = Int(bytes[index + 2]) << 8 | Int(bytes[index + 3])
            let isScan = marker == 0xDA
            if isScan || length < 2 { break }
            if marker == 0xEE, bytes[(index + 4)...].starts(with: name) {
                isFromAdobe = true
                return
            }
            index += 2 + length
        }
        isFromAdobe = false
    }
}

/// Cyan, magenta, yellow and black, four bytes per pixel.
struct InkSamples {
    private let decoded: Samples
    private let areInverted: Bool

    /// - Parameter areInverted: Adobe software stores inverted values: 255 means no ink.
    init(_ decoded: Samples, areInverted: Bool) {
        self.decoded = decoded
        self.areInverted = areInverted
    }

    /// The remaining light: each ink absorbs its share, and black absorbs all three colours.
    func samples() -> Samples {
        let count = decoded.width * decoded.height
        let flip: UInt8 = areInverted ? 0 : 255
        var colours = [UInt8](repeating: 0, count: count * 3)
        for pixel in 0..<count {
            let key = Int(decoded.bytes[pixel * 4 + 3] ^ flip)
            for channel in 0..<3 {
                let light = Int(decoded.bytes[pixel * 4 + channel] ^ flip)
                colours[pixel * 3 + channel] = UInt8(light * key / 255)
            }
        }
        return Samples(
            width: decoded.width, height: decoded.height, channels: 3, bytes: colours,
            isWhole: decoded.isWhole)
    }
}

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

    /// Decodes into `pixels`, which must have room for an image of `size` in `format`.
    ///
    /// Returns whether the image was complete.
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
