import QRDrawing

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
        width: Int, height: Int, channels: Int, rows start: UnsafePointer<UInt8>, stride: Int,
        isWhole: Bool
    ) {
        let count = width * channels
        precondition(stride >= count, "a row contains all its samples")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * height)
        for row in 0..<height {
            unsafe bytes.append(
                contentsOf: UnsafeBufferPointer(start: start + row * stride, count: count))
        }
        self.init(
            width: width, height: height, channels: channels, bytes: bytes, isWhole: isWhole)
    }

    /// The same picture on white.
    func onPaper() -> Samples {
        guard let flat = colours() else { return self }
        return Samples(
            width: width, height: height, channels: 3, bytes: flat.samples, isWhole: isWhole)
    }

    /// The same picture with rows replaced by white.
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
