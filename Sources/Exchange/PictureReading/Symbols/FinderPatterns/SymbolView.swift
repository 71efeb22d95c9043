import QRDrawing

/// A picture sampled through a symbol's projection.
struct SymbolView {
    let picture: GrayImage
    let projection: Projection
    /// The number of modules per side.
    let modules: Int
    /// Whether light and dark are exchanged.
    let isInverted: Bool

    /// The corners in the picture, in order.
    var outline: [Point] {
        [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { projection(Point(x: $0, y: $1)) }
    }

    /// The mean side of a module in the picture, in pixels.
    var moduleSize: Double {
        let corners = outline
        let perimeter = corners.indices.map { (corners[$0] - corners[($0 + 1) % 4]).length }
        return perimeter.reduce(0, +) / Double(4 * modules)
    }

    /// The mean brightness in the central part of the module with its centre at `place`, in
    /// modules.
    func brightness(at place: Point) -> Float {
        var sum: Float = 0
        unsafe picture.pixels.withUnsafeBufferPointer { source in
            for down in -1...1 {
                for across in -1...1 {
                    let sample = place + Point(x: Double(across), y: Double(down)) * 0.25
                    let seen = projection(sample * (1 / Double(modules)))
                    unsafe sum += picture.brightness(at: seen, in: source)
                }
            }
        }
        return isInverted ? 255 - sum / 9 : sum / 9
    }

    /// The brightness at one point only.
    func middleBrightness(at place: Point) -> Float {
        let seen = projection(place * (1 / Double(modules)))
        let value = unsafe picture.pixels.withUnsafeBufferPointer { source in
            unsafe picture.brightness(at: seen, in: source)
        }
        return isInverted ? 255 - value : value
    }

    /// The brightness of every module, row by row.
    func modulesBrightness() -> GrayImage {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(modules * modules)
        for row in 0..<modules {
            for column in 0..<modules {
                let middle = Point(x: Double(column) + 0.5, y: Double(row) + 0.5)
                pixels.append(UInt8(brightness(at: middle)))
            }
        }
        return GrayImage(width: modules, height: modules, pixels: pixels)
    }

    /// The picture's brightness at the points of a square grid, row by row.
    ///
    /// - Parameters:
    ///   - centre: the middle of the grid, in modules.
    ///   - step: the distance of neighbouring points, in modules.
    ///   - count: the number of points on each side of the centre.
    func samples(around centre: Point, step: Double, count: Int) -> [Float] {
        var samples: [Float] = []
        samples.reserveCapacity((2 * count + 1) * (2 * count + 1))
        unsafe picture.pixels.withUnsafeBufferPointer { source in
            for row in -count...count {
                for column in -count...count {
                    let place = centre + Point(x: Double(column), y: Double(row)) * step
                    let seen = projection(place * (1 / Double(modules)))
                    samples.append(unsafe picture.brightness(at: seen, in: source))
                }
            }
        }
        return samples
    }
}
