import Glibc
import QRDrawing

extension GrayImage {
    /// The image reduced to `longerSide` pixels on the longer side; each pixel is the mean of its
    /// area.
    ///
    /// An image that is not larger is returned unchanged.
    func reduced(longerSide: Int) -> GrayImage {
        let longer = max(width, height)
        guard longer > longerSide else { return self }
        let columns = Cover(of: width, by: max(width * longerSide / longer, 1))
        let rows = Cover(of: height, by: max(height * longerSide / longer, 1))
        return unsafe drawn(width: columns.count, height: rows.count) { source, target in
            var sums = [Float](repeating: 0, count: width)
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                for row in 0..<rows.count {
                    unsafe sums.update(repeating: 0)
                    rows.forEach(under: row) { from, weight in
                        for column in 0..<width {
                            unsafe sums[column] += Float(source[from * width + column]) * weight
                        }
                    }
                    for column in 0..<columns.count {
                        var sum: Float = 0.5
                        columns.forEach(under: column) { from, weight in
                            unsafe sum += sums[from] * weight
                        }
                        unsafe target[row * columns.count + column] = UInt8(min(sum, 255))
                    }
                }
            }
        }
    }
}

/// The source cells that each target cell covers, with their weights.
private struct Cover {
    let count: Int
    private let span: Float
    private let cells: Int

    init(of cells: Int, by count: Int) {
        self.count = count
        self.cells = cells
        span = Float(cells) / Float(count)
    }

    /// Calls `body` with the cells under `index`; their weights add up to 1.
    @inline(__always)
    func forEach(under index: Int, _ body: (_ cell: Int, _ weight: Float) -> Void) {
        let start = Float(index) * span
        let end = min(Float(index + 1) * span, Float(cells))
        var cell = Int(start)
        while cell < cells, Float(cell) < end {
            let part = min(Float(cell + 1), end) - max(Float(cell), start)
            body(cell, part / span)
            cell += 1
        }
    }
}

extension GrayImage {
    /// The image enlarged `factor` times with Catmull–Rom interpolation.
    func enlarged(times factor: Int) -> GrayImage {
        let wide = width * factor
        let curves = (0..<factor).map { Curve(phase: $0, of: factor) }
        return unsafe drawn(width: wide, height: height * factor) { source, target in
            var line = [Float](repeating: 0, count: width)
            unsafe line.withUnsafeMutableBufferPointer { line in
                for row in 0..<height * factor {
                    let down = curves[row % factor]
                    let first = row / factor + down.offset
                    unsafe line.update(repeating: 0)
                    for (step, weight) in down.weights.enumerated() {
                        let from = min(max(first + step, 0), height - 1) * width
                        for column in 0..<width {
                            unsafe line[column] += Float(source[from + column]) * weight
                        }
                    }
                    for column in 0..<wide {
                        let across = curves[column % factor]
                        let start = column / factor + across.offset
                        var sum: Float = 0.5
                        for (step, weight) in across.weights.enumerated() {
                            let from = min(max(start + step, 0), width - 1)
                            unsafe sum += line[from] * weight
                        }
                        unsafe target[row * wide + column] = UInt8(min(max(sum, 0), 255))
                    }
                }
            }
        }
    }
}

/// The four weights of a Catmull–Rom curve at one position between two pixels.
private struct Curve {
    /// The offset from the pixel at this position to the first of the four weighted pixels.
    let offset: Int
    let weights: [Float]

    /// The centre of new pixel number `phase` out of the `factor` that share one old pixel.
    init(phase: Int, of factor: Int) {
        let place = (Float(phase) + 0.5) / Float(factor) - 0.5
        let before = place < 0
        offset = before ? -2 : -1
        let t = before ? place + 1 : place
        weights = [
            ((2 - t) * t - 1) * t / 2,
            ((3 * t - 5) * t * t + 2) / 2,
            ((4 - 3 * t) * t + 1) * t / 2,
            (t - 1) * t * t / 2,
        ]
    }
}

extension GrayImage {
    /// An image of the given size; `fill` computes every pixel from this image's.
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

    /// The image with light and dark exchanged.
    func inverted() -> GrayImage {
        unsafe drawn(width: width, height: height) { source, target in
            for index in source.indices { unsafe target[index] = ~source[index] }
        }
    }

    /// The image inside a margin of uniform brightness.
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
    /// The image with a Gaussian blur of the given width.
    func blurred(sigma: Double) -> GrayImage {
        let radius = Int((sigma * 3).rounded(.up))
        let bell = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let total = bell.reduce(0, +)
        // In 2^16ths, so that a sum of weighted bytes fits into 32 bits.
        let weights = bell.map { UInt32(($0 / total * 65_536).rounded()) }
        return convolvedDown(weights).transposed().convolvedDown(weights).transposed()
    }

    /// Each pixel becomes the weighted mean of the pixels above and below; edge rows are repeated.
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

    /// The image with rows and columns exchanged, in squares that fit the processor's cache.
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
