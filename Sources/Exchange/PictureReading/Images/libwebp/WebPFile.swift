import CWebP
internal import Pictures
import QRDrawing

/// A WebP file: lossy or lossless, with or without alpha, still or animated.
///
/// Each frame of an animation is decoded on its own, not composited on the previous frame, because
/// a symbol is complete in one frame.
struct WebPFile {
    let width: Int
    let height: Int
    let frameCount: Int
    private let bytes: [UInt8]
    private let frames: [Range<Int>]

    init(_ bytes: [UInt8], limits: ImageLimits) throws(ImageFileError) {
        let features = try Self.features(of: bytes[...])
        let width = Int(features.width)
        let height = Int(features.height)
        try limits.check(width: width, height: height, of: .webp)
        self.width = width
        self.height = height
        self.bytes = bytes
        guard features.has_animation != 0 else {
            frames = [bytes.indices]
            frameCount = 1
            return
        }
        frames = WebPContainer(bytes).frames
        frameCount = frames.count
        guard frameCount > 0 else { throw .damaged(.webp) }
        try limits.check(frameCount: frameCount)
        for frame in frames {
            // A frame has its own header, which can claim a larger size than the canvas.
            let own = try Self.features(of: bytes[frame])
            try limits.check(width: Int(own.width), height: Int(own.height), of: .webp)
        }
    }

    func frame(_ index: Int, longerSide: Int) throws(ImageFileError) -> ImageFrame {
        try decode(index, longerSide: longerSide).frame()
    }

    func colours(_ index: Int, longerSide: Int) throws(ImageFileError) -> ColourImage? {
        try decode(index, longerSide: longerSide).colours()
    }

    private static func features(
        of bytes: ArraySlice<UInt8>
    ) throws(ImageFileError) -> WebPBitstreamFeatures {
        var features = WebPBitstreamFeatures()
        let status = unsafe bytes.withUnsafeBufferPointer { data in
            unsafe WebPGetFeatures(data.baseAddress, data.count, &features)
        }
        guard status == VP8_STATUS_OK else { throw .damaged(.webp) }
        return features
    }

    private func decode(_ index: Int, longerSide: Int) throws(ImageFileError) -> Samples {
        let data = bytes[frames[index]]
        let features = try Self.features(of: data)
        let hasAlpha = features.has_alpha != 0
        let channels = hasAlpha ? 4 : 3
        let size = Self.size(Int(features.width), Int(features.height))
        var pixels = [UInt8](repeating: 255, count: size.width * size.height * channels)
        let status = unsafe pixels.withUnsafeMutableBufferPointer { target in
            unsafe Self.decode(
                data, as: hasAlpha ? MODE_RGBA : MODE_RGB, size: size,
                isScaled: size.width != Int(features.width), into: target)
        }
        switch status {
        case VP8_STATUS_OK, VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_BITSTREAM_ERROR:
            return Samples(
                width: size.width, height: size.height, channels: channels, bytes: pixels,
                isWhole: status == VP8_STATUS_OK)
        case VP8_STATUS_OUT_OF_MEMORY: throw .outOfMemory
        default: throw .damaged(.webp)
        }
    }

    /// The size to decode at: the image's own size unless it is too large to hold in colour.
    private static func size(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
        var shrunk = (width: width, height: height)
        while shrunk.width * shrunk.height > 16 << 20 {
            shrunk = (max(shrunk.width / 2, 1), max(shrunk.height / 2, 1))
        }
        return shrunk
    }

    private static func decode(
        _ data: ArraySlice<UInt8>, as mode: WEBP_CSP_MODE, size: (width: Int, height: Int),
        isScaled: Bool, into target: UnsafeMutableBufferPointer<UInt8>
    ) -> VP8StatusCode {
        var config = unsafe WebPDecoderConfig()
        guard unsafe WebPInitDecoderConfig(&config) != 0 else { return VP8_STATUS_INVALID_PARAM }
        unsafe config.output.colorspace = mode
        unsafe config.output.is_external_memory = 1
        unsafe config.output.u.RGBA = WebPRGBABuffer(
            rgba: target.baseAddress, stride: Int32(target.count / size.height), size: target.count)
        unsafe config.options.use_scaling = isScaled ? 1 : 0
        unsafe config.options.scaled_width = Int32(size.width)
        unsafe config.options.scaled_height = Int32(size.height)
        defer { unsafe WebPFreeDecBuffer(&config.output) }
        return unsafe data.withUnsafeBufferPointer { source in
            unsafe WebPDecode(source.baseAddress, source.count, &config)
        }
    }
}

/// The chunks of an animated WebP file (WebP container specification, “Extended file format”).
///
/// libwebp's own decoder supports only still images. It accepts the content of a frame's chunk
/// unchanged, so only the frames have to be found here.
struct WebPContainer {
    /// The file ranges that contain the image chunks of each frame.
    let frames: [Range<Int>]

    /// - Parameter bytes: a file whose header libwebp has already read.
    init(_ bytes: [UInt8]) {
        let frameHeader = 16
        let wanted = Array("ANMF".utf8)
        var found: [Range<Int>] = []
        var index = 12
        while index + 8 <= bytes.count {
            let size = (0..<4).reduce(0) { $0 | Int(bytes[index + 4 + $1]) << ($1 * 8) }
            let start = index + 8
            let end = min(start + size, bytes.count)
            if bytes[index...].starts(with: wanted), start + frameHeader < end {
                found.append(start + frameHeader..<end)
            }
            // Chunks are aligned to even offsets.
            index = start + size + size % 2
        }
        frames = found
    }
}
