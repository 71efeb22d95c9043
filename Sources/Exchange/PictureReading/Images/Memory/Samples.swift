import QRDrawing

/// Interleaved 8-bit samples, gray or colour, with or without alpha, as the libraries return them.
struct Samples {
    let width: Int
    let height: Int
    /// 1 for gray, 2 for gray and alpha, 3 for colour, 4 for colour and alpha (never
    /// premultiplied).
    let channels: Int
    let bytes: [UInt8]
    let isWhole: Bool

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

    /// The colours on white; `nil` for a gray picture.
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
