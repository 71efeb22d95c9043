import QRDrawing

/// An image of a symbol with its margin, from which the tests derive other images.
func drawn(_ text: String, modulePixels: Int = 4) throws -> GrayImage {
    try drawn(Array(text.utf8), modulePixels: modulePixels)
}

/// A symbol that contains the given bytes, which need not be text.
func drawn(_ bytes: [UInt8], modulePixels: Int = 4) throws -> GrayImage {
    try Symbol(encoding: bytes.span, correction: .medium).image(modulePixels: modulePixels)
}

/// Images side by side on white.
func beside(_ pictures: [GrayImage]) -> GrayImage {
    let height = pictures.map(\.height).max() ?? 1
    var pixels: [UInt8] = []
    for row in 0..<height {
        for picture in pictures {
            let start = row * picture.width
            pixels +=
                row < picture.height
                ? Array(picture.pixels[start..<start + picture.width])
                : [UInt8](repeating: 255, count: picture.width)
        }
    }
    return GrayImage(width: pictures.map(\.width).reduce(0, +), height: height, pixels: pixels)
}

extension GrayImage {
    /// The image with each pixel changed by a rule.
    func changed(_ rule: (_ x: Int, _ y: Int, _ value: UInt8) -> UInt8) -> GrayImage {
        let changed = pixels.indices.map { rule($0 % width, $0 / width, pixels[$0]) }
        return GrayImage(width: width, height: height, pixels: changed)
    }

    /// The image without a margin.
    func cropped(by margin: Int) -> GrayImage {
        let rows = (margin..<height - margin).flatMap { row in
            pixels[row * width + margin..<(row + 1) * width - margin]
        }
        return GrayImage(width: width - 2 * margin, height: height - 2 * margin, pixels: rows)
    }
}
