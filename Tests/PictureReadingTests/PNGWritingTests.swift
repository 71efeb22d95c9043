import PictureReading
import QRDrawing
import Testing

@Suite struct PNGWritingTests {
    @Test("a PNG round-trips pixel by pixel")
    func roundTrip() throws {
        let picture = GrayImage(
            width: 37, height: 11, pixels: (0..<37 * 11).map { UInt8(truncatingIfNeeded: $0 * 7) })
        let frame = try EncodedImage(writePNG(picture)).frame()
        #expect(frame == ImageFrame(brightness: picture, alpha: nil, isWhole: true))
    }

    @Test("a single pixel is a valid picture")
    func onePixel() throws {
        let picture = GrayImage(width: 1, height: 1, pixels: [200])
        #expect(try EncodedImage(writePNG(picture)).frame().brightness == picture)
    }
}
