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
