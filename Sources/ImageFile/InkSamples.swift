/// Cyan, magenta, yellow and black, four bytes per pixel.
struct InkSamples {
    private let decoded: Samples
    private let areInverted: Bool

    /// - Parameter areInverted: Adobe software stores inverted values: 255 means no ink.
    init(_ decoded: Samples, areInverted: Bool) {
        self.decoded = decoded
        self.areInverted = areInverted
    }

    /// The remaining light: each ink absorbs its share, and black absorbs all three colours.
    func samples() -> Samples {
        let count = decoded.width * decoded.height
        let flip: UInt8 = areInverted ? 0 : 255
        var colours = [UInt8](repeating: 0, count: count * 3)
        for pixel in 0..<count {
            let key = Int(decoded.bytes[pixel * 4 + 3] ^ flip)
            for channel in 0..<3 {
                let light = Int(decoded.bytes[pixel * 4 + channel] ^ flip)
                colours[pixel * 3 + channel] = UInt8(light * key / 255)
            }
        }
        return Samples(
            width: decoded.width, height: decoded.height, channels: 3, bytes: colours,
            isWhole: decoded.isWhole)
    }
}
