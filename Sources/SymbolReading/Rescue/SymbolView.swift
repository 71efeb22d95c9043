import Raster

/// A picture looked at through a symbol's projection: the brightness at each place of the symbol.
struct SymbolView {
    let picture: GrayImage
    let projection: Projection
    /// Modules on a side.
    let modules: Int
    /// Whether light and dark are exchanged.
    let isInverted: Bool

    /// The mean brightness of the middle of the module whose middle is at `place`, in modules.
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

    /// The brightness at one place alone.
    private func middleBrightness(at place: Point) -> Float {
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

    /// How much an alignment pattern with its middle at `place` stands out: the brightness of its
    /// light ring less that of its dark parts.
    ///
    /// - Parameter isQuick: Whether to look at the middle of each module only.
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
