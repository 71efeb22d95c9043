import QRDrawing

/// Interleaved 8-bit samples, gray or colour, with or without alpha, as the libraries return them.
struct Samples {
    let width: Int
    let height: Int
    /// 1 for gray, 2 for gray and alpha, 3 for colour, 4 for colour and alpha (never
    /// premultiplied).
    let channels: Int
    let bytes: [UInt8]
    var isWhole = true

    private var hasAlpha: Bool { channels == 2 || channels == 4 }

    /// The brightness on a white background, and the alpha channel unless every pixel is opaque.
    func frame() -> ImageFrame {
        let brightness = GrayImage(width: width, height: height, pixels: brightness())
        guard hasAlpha else {
            return ImageFrame(brightness: brightness, alpha: nil, isWhole: isWhole)
        }
        let alpha = (0..<width * height).map { bytes[$0 * channels + channels - 1] }
        let isOpaque = alpha.allSatisfy { $0 == 255 }
        return ImageFrame(
            brightness: brightness,
            alpha: isOpaque ? nil : GrayImage(width: width, height: height, pixels: alpha),
            isWhole: isWhole)
    }

    /// The colours on white; `nil` for a gray image.
    func colours() -> ColourImage? {
        guard channels >= 3 else { return nil }
        guard hasAlpha else {
            return ColourImage(width: width, height: height, samples: bytes)
        }
        var flat = [UInt8](repeating: 0, count: width * height * 3)
        for pixel in 0..<width * height {
            let alpha = bytes[pixel * 4 + 3]
            for channel in 0..<3 {
                flat[pixel * 3 + channel] = overWhite(bytes[pixel * 4 + channel], alpha: alpha)
            }
        }
        return ColourImage(width: width, height: height, samples: flat)
    }

    private func brightness() -> [UInt8] {
        if channels == 1 { return bytes }
        let count = width * height
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { gray, filled in
            // The loops process millions of pixels, so bounds are checked once, here.
            precondition(bytes.count == count * channels)
            unsafe bytes.withUnsafeBufferPointer { source in
                for index in 0..<count {
                    let at = index * channels
                    switch channels {
                    case 2:
                        unsafe gray[index] = overWhite(source[at], alpha: source[at + 1])
                    case 3:
                        unsafe gray[index] = luma(source[at], source[at + 1], source[at + 2])
                    default:
                        let own = unsafe luma(source[at], source[at + 1], source[at + 2])
                        unsafe gray[index] = overWhite(own, alpha: source[at + 3])
                    }
                }
            }
            filled = count
        }
    }
}

/// Brightness with the weights of ITU-R BT.601, in 256ths.
@inline(__always)
func luma(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt8 {
    let sum = UInt32(red) &* 77 &+ UInt32(green) &* 150 &+ UInt32(blue) &* 29 &+ 128
    return UInt8(truncatingIfNeeded: sum >> 8)
}

/// A value composited on white.
@inline(__always)
func overWhite(_ value: UInt8, alpha: UInt8) -> UInt8 {
    let cover = UInt32(alpha)
    let sum = UInt32(value) &* cover &+ 255 &* (255 &- cover) &+ 127
    return UInt8(truncatingIfNeeded: sum / 255)
}

/// The order of the bytes of a pixel with four channels.
enum SampleOrder {
    /// Red, green, blue, alpha.
    case redFirst
    /// Blue, green, red, alpha.
    case blueFirst
}

extension Samples {
    /// Samples from premultiplied colours with alpha.
    init(
        width: Int, height: Int, premultiplied bytes: [UInt8], order: SampleOrder, isWhole: Bool
    ) {
        var bytes = bytes
        unsafe bytes.withUnsafeMutableBufferPointer { pixels in
            for start in stride(from: 0, to: pixels.count - 3, by: 4) {
                if order == .blueFirst { unsafe pixels.swapAt(start, start + 2) }
                let alpha = unsafe UInt32(pixels[start + 3])
                guard alpha < 255, alpha > 0 else { continue }
                for channel in start..<start + 3 {
                    let straight = unsafe (UInt32(pixels[channel]) * 255 + alpha / 2) / alpha
                    unsafe pixels[channel] = UInt8(min(straight, 255))
                }
            }
        }
        self.init(width: width, height: height, channels: 4, bytes: bytes, isWhole: isWhole)
    }

    /// Copies samples from rows that may be padded.
    ///
    /// - Parameter start: the first of `height` rows of `stride` bytes.
    init(
        width: Int, height: Int, channels: Int, rows start: UnsafePointer<UInt8>, stride: Int
    ) {
        let count = width * channels
        precondition(stride >= count, "a row contains all its samples")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * height)
        for row in 0..<height {
            unsafe bytes.append(
                contentsOf: UnsafeBufferPointer(start: start + row * stride, count: count))
        }
        self.init(width: width, height: height, channels: channels, bytes: bytes)
    }

    /// The same image on white.
    func onPaper() -> Samples {
        guard let flat = colours() else { return self }
        return Samples(
            width: width, height: height, channels: 3, bytes: flat.samples, isWhole: isWhole)
    }

    /// The same image with rows replaced by white.
    func whitened(_ isWhite: (Int) -> Bool) -> Samples {
        var bytes = bytes
        for row in 0..<height where isWhite(row) {
            for index in row * width * channels..<(row + 1) * width * channels {
                bytes[index] = 255
            }
        }
        return Samples(
            width: width, height: height, channels: channels, bytes: bytes, isWhole: isWhole)
    }
}

/// 16-bit gray samples, with or without alpha (premultiplied, as in libpng's linear formats).
struct WideSamples {
    let width: Int
    let height: Int
    let hasAlpha: Bool
    let words: [UInt16]
    let isWhole: Bool

    /// Stretches the range that is used to the full range before reducing it to 8 bits.
    ///
    /// Otherwise a scan that uses only 12 of 16 bits would become almost black.
    func frame() -> ImageFrame {
        guard hasAlpha else { return frame(of: words, alpha: nil) }
        var flat = [UInt16](repeating: 0, count: width * height)
        var alpha = [UInt8](repeating: 0, count: width * height)
        for index in flat.indices {
            let cover = words[index * 2 + 1]
            // Premultiplied: add the white that shows through.
            flat[index] = UInt16(clamping: Int(words[index * 2]) + Int(UInt16.max - cover))
            alpha[index] = UInt8(cover >> 8)
        }
        let isOpaque = alpha.allSatisfy { $0 == 255 }
        return frame(of: flat, alpha: isOpaque ? nil : alpha)
    }

    private func frame(of gray: [UInt16], alpha: [UInt8]?) -> ImageFrame {
        let darkest = Int(gray.min() ?? 0)
        let range = max(Int(gray.max() ?? 0) - darkest, 1)
        let pixels = gray.map { UInt8((Int($0) - darkest) * 255 / range) }
        return ImageFrame(
            brightness: GrayImage(width: width, height: height, pixels: pixels),
            alpha: alpha.map { GrayImage(width: width, height: height, pixels: $0) },
            isWhole: isWhole)
    }
}

/// A file in memory that a C library reads through callbacks.
///
/// The library gets ``handle``, and the owner keeps the object alive while it is used.
@safe final class MemoryFile {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// The value that the library passes to the callbacks.
    var handle: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    /// The file that has this handle; `nil` for a null pointer.
    static func with(_ handle: UnsafeMutableRawPointer?) -> MemoryFile? {
        guard let handle = unsafe handle else { return nil }
        return unsafe Unmanaged<MemoryFile>.fromOpaque(handle).takeUnretainedValue()
    }

    /// Copies up to `count` bytes from the position to `target`, which must have room for them, and
    /// moves the position; returns how many were copied.
    func read(into target: UnsafeMutableRawPointer?, count: Int) -> Int {
        let available = min(count, bytes.count - position)
        guard available > 0, let target = unsafe target else { return 0 }
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe target.copyMemory(from: start + position, byteCount: available)
        }
        position += available
        return available
    }

    /// Moves the position; returns the new position, or `nil` if it would be outside the file.
    func seek(to target: Int) -> Int? {
        guard (0...bytes.count).contains(target) else { return nil }
        position = target
        return target
    }

    /// The position of the next byte to read.
    var offset: Int { position }
}
