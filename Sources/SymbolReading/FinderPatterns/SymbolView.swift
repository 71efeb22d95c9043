import Raster

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

    /// The contrast of an alignment pattern with its centre at `place`: the brightness of its light
    /// ring minus that of its dark parts.
    ///
    /// - Parameter isQuick: whether to sample only the centre of each module.
    func alignmentContrast(at place: Point, isQuick: Bool) -> Float {
        var light: Float = 0
        var dark: Float = 0
        for row in -2...2 {
            for column in -2...2 {
                let module = place + Point(x: Double(column), y: Double(row))
                let seen = isQuick ? middleBrightness(at: module) : brightness(at: module)
                if max(abs(row), abs(column)) == 1 { light += seen } else { dark += seen }
            }
        }
        return light / 8 - dark / 17
    }
}
