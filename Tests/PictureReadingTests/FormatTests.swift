import PictureReading
import Pictures
import QRDrawing
import TestSupport
import Testing

@Suite struct FormatTests {
    @Test("every format is decoded to the correct brightness", arguments: try FormatVector.all())
    func brightness(vector: FormatVector) throws {
        let image = try vector.image()
        #expect(image.format.rawValue == vector.format)
        #expect(image.width == vector.width && image.height == vector.height)
        #expect(image.frameCount == vector.frames)
        for index in 0..<image.frameCount {
            let frame = try image.frame(index)
            #expect(frame.isWhole)
            #expect((frame.alpha != nil) == vector.alpha)
            #expect(distance(frame.brightness, at: vector.margin, to: vector.light) <= 12)
            #expect(distance(frame.brightness, at: vector.finder, to: vector.dark) <= 12)
        }
    }

    @Test("alpha separates the drawing from the background", arguments: try FormatVector.all())
    func alpha(vector: FormatVector) throws {
        guard vector.alpha else { return }
        let alpha = try #require(try vector.image().frame().alpha)
        #expect(distance(alpha, at: vector.margin, to: 0) <= 12)
        #expect(distance(alpha, at: vector.finder, to: 255) <= 12)
    }

    @Test("colours are composited on white and have the correct brightness")
    func colours() throws {
        for vector in try FormatVector.all() {
            let image = try vector.image()
            guard let colours = try image.colours() else { continue }
            #expect(colours.width == vector.width && colours.height == vector.height)
            for (place, expected) in [(vector.margin, vector.light), (vector.finder, vector.dark)] {
                let start = (place * colours.width + place) * 3
                let sum = (0..<3).map { Double(colours.samples[start + $0]) }
                let brightness = 0.299 * sum[0] + 0.587 * sum[1] + 0.114 * sum[2]
                #expect(abs(brightness - Double(expected)) <= 12, "\(vector.file)")
            }
        }
    }

    @Test("a grey picture has no colours")
    func gray() throws {
        for name in ["gray-8.png", "gray-alpha-8.png", "gray.jpg"] {
            let vector = try FormatVector.named(name)
            #expect(try vector.image().colours() == nil)
        }
    }

    @Test("a JPEG may be decoded at a smaller size, but not below the requested side length")
    func smaller() throws {
        let vector = try FormatVector.named("baseline.jpg")
        let image = try vector.image()
        #expect(try image.frame(longerSide: 98).brightness.width == 99)
        #expect(try image.frame(longerSide: 49).brightness.width == 50)
        #expect(try image.frame(longerSide: 12).brightness.width == 13)
    }

    private func distance(_ image: GrayImage, at place: Int, to expected: UInt8) -> Int {
        abs(Int(image.pixels[place * image.width + place]) - Int(expected))
    }
}
