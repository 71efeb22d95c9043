import Glibc
import QRDrawing

extension GrayImage {
    /// A picture of the given size; `fill` computes every pixel from this picture's.
    ///
    /// The filters process millions of pixels, so they use raw buffers, whose bounds are checked
    /// only in debug builds.
    func drawn(
        width: Int, height: Int,
        _ fill: (UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> Void
    ) -> GrayImage {
        let count = width * height
        let drawn = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, filled in
            unsafe pixels.withUnsafeBufferPointer { source in
                unsafe fill(source, target)
            }
            filled = count
        }
        return GrayImage(width: width, height: height, pixels: drawn)
    }

    /// The picture with light and dark exchanged.
    func inverted() -> GrayImage {
        unsafe drawn(width: width, height: height) { source, target in
            for index in source.indices { unsafe target[index] = ~source[index] }
        }
    }

    /// The picture with a margin of one brightness.
    func framed(by margin: Int, brightness: UInt8) -> GrayImage {
        let wide = width + 2 * margin
        return unsafe drawn(width: wide, height: height + 2 * margin) { source, target in
            unsafe target.update(repeating: brightness)
            for row in 0..<height {
                let start = (row + margin) * wide + margin
                for column in 0..<width {
                    unsafe target[start + column] = source[row * width + column]
                }
            }
        }
    }
}

extension GrayImage {
    /// The picture with a Gaussian blur of the given width.
    func blurred(sigma: Double) -> GrayImage {
        let radius = Int((sigma * 3).rounded(.up))
        let bell = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let total = bell.reduce(0, +)
        // In 2^16ths, so that a sum of weighted bytes fits into 32 bits.
        let weights = bell.map { UInt32(($0 / total * 65_536).rounded()) }
        return convolvedDown(weights).transposed().convolvedDown(weights).transposed()
    }

    /// The picture sharpened: `amount` times the detail that a blur of `sigma` removes is added.
    func sharpened(sigma: Double, amount: Int) -> GrayImage {
        let soft = blurred(sigma: sigma)
        return unsafe drawn(width: width, height: height) { source, target in
            for index in source.indices {
                let own = unsafe Int(source[index])
                unsafe target[index] = UInt8(
                    clamping: own + amount * (own - Int(soft.pixels[index])))
            }
        }
    }

    /// Each pixel becomes the weighted mean of those above and below; edge rows are repeated.
    private func convolvedDown(_ weights: [UInt32]) -> GrayImage {
        let radius = weights.count / 2
        return unsafe drawn(width: width, height: height) { source, target in
            var sums = [UInt32](repeating: 0, count: width)
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                for row in 0..<height {
                    unsafe sums.update(repeating: 32_768)
                    for (offset, weight) in weights.enumerated() {
                        let from = min(max(row + offset - radius, 0), height - 1) * width
                        for column in 0..<width {
                            unsafe sums[column] &+= UInt32(source[from + column]) &* weight
                        }
                    }
                    for column in 0..<width {
                        // Rounded weights can add up to slightly more than one.
                        unsafe target[row * width + column] = UInt8(min(sums[column] >> 16, 255))
                    }
                }
            }
        }
    }

    /// The picture with rows and columns exchanged, in squares that fit the processor's cache.
    private func transposed() -> GrayImage {
        let tile = 32
        return unsafe drawn(width: height, height: width) { source, target in
            for top in stride(from: 0, to: height, by: tile) {
                for left in stride(from: 0, to: width, by: tile) {
                    for row in top..<min(top + tile, height) {
                        for column in left..<min(left + tile, width) {
                            unsafe target[column * height + row] = source[row * width + column]
                        }
                    }
                }
            }
        }
    }
}
