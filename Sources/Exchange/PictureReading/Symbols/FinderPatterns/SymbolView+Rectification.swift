import QRDrawing

extension SymbolView {
    /// The symbol rectified, dark on light, with a clean margin of four modules.
    func rectified() -> GrayImage {
        let scale = modules > 60 ? 4 : 6
        let margin = 4
        let inside = modules * scale
        let side = inside + 2 * margin * scale
        let flip: UInt8 = isInverted ? 255 : 0
        // Modules that are larger in the picture than in the result are averaged, not sampled.
        let samples = min(max(Int((moduleSize / Double(scale)).rounded()), 1), 4)
        return unsafe picture.drawn(width: side, height: side) { source, target in
            unsafe target.update(repeating: 255)
            for row in 0..<inside {
                for column in 0..<inside {
                    var sum: Float = 0
                    for step in 0..<samples * samples {
                        let x = Double(column) + (Double(step % samples) + 0.5) / Double(samples)
                        let y = Double(row) + (Double(step / samples) + 0.5) / Double(samples)
                        let place = projection(
                            Point(x: x / Double(inside), y: y / Double(inside)))
                        unsafe sum += picture.brightness(at: place, in: source)
                    }
                    let value = UInt8(min(sum / Float(samples * samples) + 0.5, 255))
                    let at = (row + margin * scale) * side + column + margin * scale
                    unsafe target[at] = value ^ flip
                }
            }
        }
    }
}

extension GrayImage {
    /// The interpolated brightness between four pixel centres; beyond the edge, that of the edge.
    @inline(__always)
    func brightness(at place: Point, in source: UnsafeBufferPointer<UInt8>) -> Float {
        // A hostile triplet can project to infinity, or to no number at all; `max(0, x)`, in this
        // order, replaces the latter with 0.
        let x = min(max(0, place.x - 0.5), Double(width - 1))
        let y = min(max(0, place.y - 0.5), Double(height - 1))
        let left = Int(x)
        let top = Int(y)
        let right = min(left + 1, width - 1)
        let bottom = min(top + 1, height - 1)
        let fx = Float(x - Double(left))
        let fy = Float(y - Double(top))
        let upper =
            unsafe Float(source[top * width + left]) * (1 - fx)
            + Float(source[top * width + right]) * fx
        let lower =
            unsafe Float(source[bottom * width + left]) * (1 - fx)
            + Float(source[bottom * width + right]) * fx
        return upper * (1 - fy) + lower * fy
    }
}
