public import Raster

extension Symbol {
    /// The symbol as an opaque picture, black on white with its quiet zone.
    ///
    /// - Parameter modulePixels: the side of a module in pixels, 1 to 32. More pixels do not make
    ///   the symbol easier to read.
    public func image(modulePixels: Int = 8) -> GrayImage {
        precondition((1...32).contains(modulePixels), "a module must be 1 to 32 pixels wide")
        let frame = Symbol.quietZone
        let width = (side + 2 * frame) * modulePixels
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * width)
        for row in -frame..<side + frame {
            let start = pixels.count
            for column in -frame..<side + frame {
                let brightness: UInt8 = isDark(column: column, row: row) ? 0 : 255
                pixels.append(contentsOf: repeatElement(brightness, count: modulePixels))
            }
            let line = pixels[start...]
            for _ in 1..<modulePixels { pixels.append(contentsOf: line) }
        }
        return GrayImage(width: width, height: width, pixels: pixels)
    }
}
