import QRDrawing

extension ColourImage {
    /// The image projected onto the axis along which its colours differ most, stretched to the
    /// full range.
    ///
    /// This separates two colours of equal brightness. Which end becomes light is arbitrary.
    func principalComponent() -> GrayImage {
        let statistics = ColourStatistics(samples)
        let axis = statistics.principalAxis()
        let mean = statistics.mean
        var values = [Float](repeating: 0, count: width * height)
        var lowest = Float.infinity
        var highest = -Float.infinity
        for pixel in values.indices {
            let red = Float(samples[pixel * 3]) - mean.x
            let green = Float(samples[pixel * 3 + 1]) - mean.y
            let blue = Float(samples[pixel * 3 + 2]) - mean.z
            let value = red * axis.x + green * axis.y + blue * axis.z
            values[pixel] = value
            lowest = min(lowest, value)
            highest = max(highest, value)
        }
        let scale = 255 / max(highest - lowest, 1)
        let pixels = values.map { UInt8(min(max(($0 - lowest) * scale, 0), 255)) }
        return GrayImage(width: width, height: height, pixels: pixels)
    }
}

/// The mean and covariance of an image's colours, from a few thousand of its pixels.
private struct ColourStatistics {
    let mean: SIMD3<Float>
    private let rows: [SIMD3<Float>]

    init(_ samples: [UInt8]) {
        let count = samples.count / 3
        let step = max(count / 20_000, 1)
        let colours = stride(from: 0, to: count, by: step).map { pixel in
            SIMD3(
                Float(samples[pixel * 3]), Float(samples[pixel * 3 + 1]),
                Float(samples[pixel * 3 + 2]))
        }
        let middle = colours.reduce(SIMD3<Float>(), +) / Float(colours.count)
        var rows = [SIMD3<Float>](repeating: .zero, count: 3)
        for colour in colours {
            let distance = colour - middle
            for index in 0..<3 { rows[index] += distance * distance[index] }
        }
        mean = middle
        self.rows = rows
    }

    /// The dominant eigenvector of the covariance matrix, by power iteration.
    func principalAxis() -> SIMD3<Float> {
        // Do not start at gray: the axis between two colours of equal brightness is orthogonal to
        // it.
        var axis = SIMD3<Float>(0.3, 0.5, -0.8)
        for _ in 0..<32 {
            let next = SIMD3(
                (rows[0] * axis).sum(), (rows[1] * axis).sum(), (rows[2] * axis).sum())
            let length = (next * next).sum().squareRoot()
            guard length > 0 else { return SIMD3(0.299, 0.587, 0.114) }
            axis = next / length
        }
        return axis
    }
}
