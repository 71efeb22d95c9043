import QRDrawing

extension GrayImage {
    /// The picture enlarged `factor` times with Catmull–Rom interpolation.
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
