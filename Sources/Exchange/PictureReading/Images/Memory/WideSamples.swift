import QRDrawing

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
